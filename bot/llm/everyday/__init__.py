"""Everyday English for the built-in tools, read by rules: what the offline planner understands beside plain notation."""
