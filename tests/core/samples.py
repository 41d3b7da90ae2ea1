"""A small catalogue and plans for the tests of the pure rules, and what Hypothesis draws them from."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.plan import Plan, Step


def schema(required: tuple[str, ...] = (), /, **properties: Any) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT = {"type": "string"}


def spec(name: str, effect: Effect, args: Mapping[str, Any], **more: Any) -> ToolSpec:
    return ToolSpec(name=name, description=f"{name}, for tests", effect=effect, args_schema=args, **more)


READ_FILE = spec(
    "files.read",
    Effect.READ,
    schema(("path",), path=TEXT),
    target="path",
    result_schema={"type": "object", "properties": {"text": TEXT, "path": TEXT, "lines": {"type": "integer"}}},
)
WRITE_FILE = spec("files.write", Effect.WRITE, schema(("path", "text"), path=TEXT, text=TEXT), target="path")
DELETE_FILE = spec("files.delete", Effect.DELETE, schema(("path",), path=TEXT), target="path")
FETCH = spec("web.fetch", Effect.READ, schema(("url",), url=TEXT), target="url", untrusted_output=True, outward=True)
SUMMARIZE = spec("text.summarize", Effect.READ, schema(("text",), text=TEXT), says="Writes a summary")
POST = spec("slack.post_message", Effect.SEND, schema(("channel", "text"), channel=TEXT, text=TEXT), says="Sends a message to {channel}")
MAIL = spec("mail.send", Effect.SEND, schema(("to",), to={"type": "array", "items": TEXT}, amount={"type": "number"}), outward=True)
SHELL = spec("shell.run", Effect.EXECUTE, schema(("argv",), argv={"type": "array", "items": TEXT}), target="argv")
WAIT = spec("time.wait", Effect.READ, schema(("seconds",), seconds={"type": "number"}), says="Waits {seconds} seconds")

CATALOGUE: Catalogue = {tool.name: tool for tool in (READ_FILE, WRITE_FILE, DELETE_FILE, FETCH, SUMMARIZE, POST, MAIL, SHELL, WAIT)}


def plan(*steps: Mapping[str, Any] | Step, goal: str = "A goal") -> Plan:
    """A plan from dictionaries; each step's number is its place."""
    made = [step if isinstance(step, Step) else Step.model_validate({"number": place, **step}) for place, step in enumerate(steps, 1)]
    return Plan(goal=goal, steps=tuple(made))


def read(step_id: str, path: str = "a.md", **more: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": "files.read", "args": {"path": path}, **more}


def post(step_id: str, text: str, *, channel: str = "#ops", **more: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": "slack.post_message", "args": {"channel": channel, "text": text}, **more}


# What breaks quoting, counting or reading; all of Unicode would take Hypothesis seconds to load.
SIGNS = "aZ09_ \t\n\r\"'\\;:={}[](),.#!$`-—“”‘’„é\u0301日ش🧹👩\u200d\U0001f3fd\u202e\u200b\u00a0\x00\x1b\ue000\U000e0041"
texts = st.text(SIGNS, max_size=30)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(SIGNS, max_size=8), inner, max_size=4),
    max_leaves=8,
)
ids = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)


@st.composite
def graphs(draw: st.DrawFn, *, most: int = 8) -> Plan:
    """A plan without loops, in any order of listing: each step needs only steps that were drawn before it."""
    names = [f"n{number}" for number in range(draw(st.integers(1, most)))]
    steps = []
    for place, name in enumerate(names):
        needs = draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        written = draw(st.integers(0, len(needs)))
        args = {f"a{at}": f"from {{{{{need}.x}}}}" for at, need in enumerate(needs[written:])}
        steps.append({"id": name, "tool": "any.tool", "args": args, "depends_on": tuple(needs[:written])})
    return plan(*draw(st.permutations(steps)))


@st.composite
def wild_plans(draw: st.DrawFn) -> Plan:
    """Any plan at all: loops, unknown tools and steps, broken references, repeated ids."""
    names = st.sampled_from(["a", "b", "c", "d"])
    reference = st.builds(
        lambda name, path: f"{{{{{name}{path}}}}}", names | st.just("zz") | st.just("secret:X"), st.sampled_from(["", ".x", ".x[", "["])
    )
    values = json_values | reference | st.builds(lambda one, other: f"{one} {{{{ {other}", reference, reference)
    step = st.fixed_dictionaries(
        {
            "id": names,
            "tool": st.sampled_from([*CATALOGUE, "no.such", "Files.Read"]),
            "args": st.dictionaries(st.sampled_from(["path", "text", "url", "argv", "to", "seconds", "odd name"]), values, max_size=3),
            "depends_on": st.lists(names | st.just("gone"), max_size=2).map(tuple),
            "retries": st.integers(0, 2),
        }
    )
    return plan(*draw(st.lists(step, max_size=6)))


@st.composite
def notated_plans(draw: st.DrawFn) -> Plan:
    """Any plan that plain notation can say, odd texts included."""
    odd = st.sampled_from(["true", "5", "-1e5", "“q”", "a;b", "#x", "{{a.b}}", "{{", "!break", "--", "1e999", "[a]", "x=y"])
    value = texts | odd | json_values | st.lists(texts, max_size=3)
    names = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    step = st.fixed_dictionaries(
        {
            "purpose": texts,
            "tool": st.from_regex(r"[a-z_]{1,9}(\.[a-z_]{1,9}){0,2}", fullmatch=True) | st.text(SIGNS, min_size=1, max_size=20),
            "args": st.dictionaries(
                st.sampled_from(["path", "timeout", "after", "a.b", "x-y"]) | st.text(SIGNS, max_size=10), value, max_size=4
            ),
            "depends_on": st.lists(ids, max_size=3).map(tuple),
            "breakpoint": st.booleans(),
            "timeout_s": st.none() | st.integers(1, 86_400).map(float) | st.floats(0.5, 1000),
            "on_failure": st.sampled_from(["ask", "stop", "continue"]),
            "retries": st.integers(0, 5),
        }
    )
    return Plan(goal="A goal", steps=tuple(Step.model_validate({"id": name, **draw(step)}) for name in names))
