"""The narrow model roles (planner, synthesizer). None of them has tools."""
