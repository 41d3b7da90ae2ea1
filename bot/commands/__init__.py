"""Instant: a person or the clock changes a run. No model, no tool, no waiting."""
