"""The prompts, as text files beside this one, so that they can be read and changed without reading code."""

from functools import cache
from importlib.resources import files


@cache
def text(name: str) -> str:
    """The prompt of that name. Raises FileNotFoundError if there is none."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
