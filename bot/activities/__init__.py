"""Slow: drafting, dispatching, answering. Called by the supervisor only."""
