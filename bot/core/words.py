"""Words that mean a command when they are the whole message: in threads, Slack offers no slash commands."""

CONTROL_WORDS = frozenset({"pause", "resume", "stop", "status"})


def control_word(text: str) -> str | None:
    """`pause`, `resume`, `stop` or `status` if that is all that the message says, else None."""
    word = text.strip().rstrip("!.?").casefold()
    return word if word in CONTROL_WORDS else None
