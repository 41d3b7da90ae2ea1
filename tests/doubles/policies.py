"""The demo's policy as text, for tests that begin from it."""

from bot.policies import example

DEMO_POLICY = example("demo")
