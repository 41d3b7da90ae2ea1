"""Hypothesis judges what is right here, not how fast a busy machine draws it."""

from hypothesis import HealthCheck, settings

settings.register_profile("pullcord", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pullcord")
