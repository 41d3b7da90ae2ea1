"""The planner's form, built for the tools at hand: one kind of step for each tool, with that tool's own arguments.

The pydantic models made here render the schema that the model is given and read what it replies, so there are never two specifications.
Dependencies are implied by references; `after` adds those that only order implies. Besides a plan the model may give a question, or say
that it cannot be done with these tools. What is read is not yet allowed: `bot.core.validation` is stricter and has the last word.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model
from pydantic.json_schema import SkipJsonSchema

from bot.core.catalogue import Catalogue, ToolSpec
from bot.core.characters import cut
from bot.core.drafts import Fault, Question
from bot.core.plan import Plan, Step
from bot.core.validation import validate
from bot.llm import schemas

MOST_STEPS = 50
WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of the form",
    "string_pattern_mismatch": "must begin with a letter, then only letters, digits, - and _",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "model_type": "must be an object",
}
GOAL, PURPOSE, SAYS = 230, 120, 500  # characters, as the stored form and the cards have them


class Shape(BaseModel):
    """Unknown fields are refused: nothing that a planner writes can claim a risk or an approval."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def _require_all(schema: dict[str, Any]) -> None:
    """A model is told to write every field: servers allow few optional ones. Reading is less strict."""
    schema["required"] = list(schema["properties"])


class Whole(Shape):
    """A shape of which the model is told that every field is required, though some are not missed."""

    model_config = ConfigDict(json_schema_extra=_require_all)


def _text(limit: int) -> Any:
    """A text whose bound the model is told; what is longer is cut politely, not refused."""
    return Annotated[str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": limit})]


Name = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9_-]*$", min_length=1, max_length=40)]


class Asked(Whole):
    """One thing that has to be known before there can be a plan."""

    says: _text(SAYS)  # type: ignore[valid-type]
    choices: list[_text(80)] = Field(default=[], max_length=5)  # type: ignore[valid-type]


class Impossible(Whole):
    """Why no plan is possible with these tools."""

    says: _text(SAYS)  # type: ignore[valid-type]
    missing: list[_text(80)] = Field(default=[], max_length=5)  # type: ignore[valid-type]


class QuestionReply(Shape):
    question: Asked


class CannotReply(Shape):
    cannot: Impossible


class Form:
    """The form for one catalogue. Building it costs a few milliseconds; it holds no state.

    `fixed`: steps that references may name although the reply does not bring them; a plan beside such steps may be empty.
    """

    def __init__(self, catalogue: Catalogue, *, fixed: Collection[Step] = ()) -> None:
        self._catalogue, self._fixed = catalogue, tuple(fixed)
        self._arguments = {name: schemas.arguments(spec.args_schema) for name, spec in catalogue.items()}
        kinds = [_step_model(spec, self._arguments[spec.name], number) for number, spec in enumerate(catalogue.values())]
        self._plan = _plan_model(kinds, fewest=0 if fixed else 1)
        alternatives: Any = Union[self._plan, QuestionReply, CannotReply]  # noqa: UP007  # built at run time
        reply = create_model("Reply", __base__=Shape, reply=(alternatives, ...))
        self.schema: dict[str, Any] = _bare(reply.model_json_schema(by_alias=True))

    def read(self, data: Mapping[str, Any]) -> Plan | Question | tuple[Fault, ...]:
        """What the reply says; faults if it does not fit the form. The outer `reply` may be left out, as weak models do."""
        inner = data.get("reply", data)
        inner = {"plan": inner} if isinstance(inner, Mapping) and "steps" in inner else inner
        kinds: dict[str, type[BaseModel]] = {"plan": self._plan, "question": QuestionReply, "cannot": CannotReply}
        kind = next((kind for kind in kinds if isinstance(inner, Mapping) and inner.get(kind) is not None), None)
        if kind is None:
            return (Fault(says="the reply is neither a plan nor a question", fix='reply with {"reply": {"plan": …}}'),)
        try:
            read = kinds[kind].model_validate({kind: inner[kind]}).model_dump(exclude_none=True, by_alias=True)
            return self._taken(kind, read[kind])
        except ValidationError as error:
            return self._faults(error, inner)

    def _taken(self, kind: str, read: dict[str, Any]) -> Plan | Question | tuple[Fault, ...]:
        if kind == "question":
            return Question(says=cut(read["says"], SAYS), choices=tuple(cut(choice, 80) for choice in read["choices"]))
        if kind == "cannot":
            missing = f"missing: {', '.join(read['missing'])}" if read["missing"] else ""
            return (Fault(says=cut(read["says"], SAYS), field="cannot", fix=cut(missing, SAYS)),)
        return self._as_plan(read)

    def _as_plan(self, read: Mapping[str, Any]) -> Plan:
        """The stored form. Raises ValidationError where a field is beyond what a plan can hold."""
        steps = []
        for step in read["steps"]:
            given = self._arguments.get(step["tool"], {})
            args = {name: schemas.decode(value, given.get(name, {})) for name, value in (step.get("args") or {}).items()}
            purpose = cut(" ".join(step.get("purpose", "").split()), PURPOSE)
            after = tuple(step.get("after") or step.get("depends_on") or ())
            steps.append(Step(id=step["id"], purpose=purpose, tool=step["tool"], args=args, depends_on=after))
        return Plan(goal=cut(" ".join(read["goal"].split()), GOAL), steps=tuple(steps))

    def _faults(self, error: ValidationError, inner: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Validation's words for tools and arguments where the reply has at least the shape of a plan, else pydantic's."""
        details = [_fault(detail, inner, self._catalogue) for detail in error.errors()[:20]]
        try:
            plan = self._as_plan(inner["plan"])
        except (ValidationError, KeyError, TypeError, AttributeError):
            return tuple(details)
        beside = [step for step in self._fixed if step.id not in {new.id for new in plan.steps}]
        whole = plan.model_copy(update={"steps": (*beside, *plan.steps)})
        found = validate(whole, self._catalogue, max_steps=MOST_STEPS + len(beside))
        rest = [fault for fault in details if not (fault.field or "").startswith(("args", "tool"))]
        return tuple(found + rest) or tuple(details)


def _step_model(spec: ToolSpec, given: Mapping[str, schemas.Schema], number: int) -> type[BaseModel]:
    """The kind of step that calls this tool. Arguments go by alias, since a tool may name one as pydantic names its own things."""
    required = frozenset(spec.args_schema.get("required", ()))
    fields: dict[str, Any] = {
        f"argument_{place}": (Annotated[Any, WithJsonSchema(schema)], Field(alias=name, default=... if name in required else None))
        for place, (name, schema) in enumerate(given.items())
    }
    arguments = create_model(f"Arguments{number}", __base__=Shape, **fields)
    name: Any = Literal[spec.name]
    # An object without properties breaks some grammars, so a tool without arguments is not asked for any.
    shown = arguments if given else SkipJsonSchema[arguments]
    return create_model(
        f"Step{number}",
        __base__=Whole,
        id=(Name, ...),
        purpose=(_text(PURPOSE), ""),
        tool=(name, ...),
        args=(shown, ... if required else arguments()),
        after=(list[Name], Field(default=[], max_length=20, validation_alias=AliasChoices("after", "depends_on"))),
    )


def _plan_model(kinds: list[type[BaseModel]], *, fewest: int) -> type[BaseModel]:
    step: Any = Annotated[Union[tuple(kinds)], Field(discriminator="tool")] if len(kinds) > 1 else kinds[0]  # noqa: UP007
    steps = Annotated[list[step], Field(min_length=fewest, max_length=MOST_STEPS)]
    plan = create_model("Planned", __base__=Shape, goal=(_text(GOAL), ...), steps=(steps, ...))
    return create_model("PlanReply", __base__=Shape, plan=(plan, ...))


def _bare(schema: Any) -> Any:
    """The schema without titles, defaults and what only pydantic knows: fewer tokens, smaller grammars."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, item in schema.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _bare(part) for name, part in item.items()}
        elif key not in ("title", "default", "discriminator", "contentMediaType") and not (key == "description" and "properties" in schema):
            kept["anyOf" if key == "oneOf" else key] = _bare(item)
    return kept


def _fault(detail: Any, inner: Mapping[str, Any], catalogue: Catalogue) -> Fault:
    """One of pydantic's errors, with the id of the step in which it is."""
    path = [str(part) for part in detail["loc"]]
    step = None
    if "steps" in path[:-1]:
        place = path.index("steps") + 1
        step = _step_id(inner, path[place])
        path = [part for part in path[place + 1 :] if part not in catalogue]
    name = ".".join(path) or "tool"
    return Fault(says=cut(f"{name} {WORDS.get(detail['type'], detail['msg'])}", 300), step=step, field=name)


def _step_id(inner: Mapping[str, Any], place: str) -> str | None:
    try:
        found = inner["plan"]["steps"][int(place)]["id"]
    except (KeyError, TypeError, ValueError, IndexError):
        return f"{int(place) + 1}" if place.isdigit() else None
    return found if isinstance(found, str) and found else None
