"""What has been read of an ask so far: the steps, as the clauses before this one gave them, so that "it" can find the result it means."""

from dataclasses import dataclass, replace
from typing import Any

from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.characters import cut
from bot.core.ids import StepId
from bot.core.plan import Step

# What a tool's result is good for as text: the field, if the schema has it, and the words that go before it if it is no text by itself.
TEXTS = {
    "files.read": ("text", ""),
    "text.summarize": ("summary", ""),
    "text.generate": ("text", ""),
    "web.fetch": ("text", ""),
    "slack.read_channel": ("text", ""),
    "slack.read_thread": ("text", ""),
    "files.search": ("matches", "Matches:\n"),
    "files.list": ("files", "Files:\n"),
    "time.now": ("text", ""),
}


class NotRead(Exception):
    """The clause is not understood, or (with `notation`) understood but lacking something; the text says what would help."""

    def __init__(self, note: str = "", *, notation: str = "", try_instead: str = "") -> None:
        super().__init__(note)
        self.note, self.notation, self.try_instead = note, notation, try_instead


@dataclass(frozen=True)
class Scene:
    """The steps read so far, and the words being read now (the purpose of the steps that they become)."""

    catalogue: Catalogue
    steps: tuple[Step, ...] = ()
    words: str = ""
    taken: frozenset[str] = frozenset()  # ids that no new step may have, beside those of `steps`

    def spec(self, tool: str) -> ToolSpec:
        """The tool's spec; `NotRead` if it is not to be had here."""
        if tool not in self.catalogue:
            raise NotRead(f"{tool} is not to be had here")
        return self.catalogue[tool]

    def add(self, tool: str, name: str, **args: Any) -> "Scene":
        """The scene with one more step; arguments that the tool does not know are left out. `NotRead` if it needs more than these."""
        schema = self.spec(tool).args_schema
        known = {key: value for key, value in args.items() if value is not None and key in schema.get("properties", {})}
        lacking = [key for key in schema.get("required", ()) if key not in known]
        if lacking:
            raise NotRead(f"{tool} also needs {' and '.join(lacking)}")
        step = Step(id=self._free(name), purpose=cut(" ".join(self.words.split()), 120), tool=tool, args=known)
        after = tuple(name for name in self._before(tool) if name not in step.needs)
        return replace(self, steps=(*self.steps, step.model_copy(update={"depends_on": after})))

    def last(self, tools: tuple[str, ...]) -> Step | None:
        """The latest step of one of these tools."""
        return next((step for step in reversed(self.steps) if step.tool in tools), None)

    def result(self, step: Step) -> str:
        """A reference to what that step returns, as text."""
        field, lead = TEXTS[step.tool]
        properties = self.catalogue[step.tool].result_schema.get("properties", {})
        if properties and field not in properties:
            field = next((name for name, schema in properties.items() if schema.get("type") == "string"), field)
        return f"{lead}{{{{{step.id}.{field}}}}}"

    def _before(self, tool: str) -> list[StepId]:
        """What a new step waits for by order alone. Reads in a row may run together; an effect or a wait stays where the person said it."""
        if self._stays(tool):
            needed = {name for step in self.steps for name in step.needs}
            return [step.id for step in self.steps if step.id not in needed]
        return [step.id for step in self.steps if self._stays(step.tool)][-1:]

    def _stays(self, tool: str) -> bool:
        return tool == "time.wait" or self.catalogue[tool].effect is not Effect.READ

    def _free(self, name: str) -> StepId:
        taken = self.taken | {step.id for step in self.steps}
        numbers = (name if n == 1 else f"{name}{n}" for n in range(1, len(taken) + 2))
        return StepId(next(candidate for candidate in numbers if candidate not in taken))
