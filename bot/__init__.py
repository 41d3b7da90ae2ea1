"""Pullcord without Slack: the plan, the policy, the door, the dispatcher and what they stand on."""
