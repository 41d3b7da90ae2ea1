"""Slack's rules for blocks and views: `rules` is the small language, `elements` and `blocks` say what there is, `limits` checks a payload."""
