"""Slack's rules for blocks and views.

`rules` is a small language, `elements` and `blocks` say in it what there is, `limits` checks a whole payload.
"""
