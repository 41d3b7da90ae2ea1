"""Benchmarks: commands that print figures, never tests with a clock."""
