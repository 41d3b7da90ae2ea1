"""Plain notation: read, printed, read again; and faults that say which line."""

from typing import Any

import pytest
from hypothesis import given

from bot.core.notation import NotationError, looks_like, parse, parse_steps, print_plan, print_step
from bot.core.plan import Plan, Step
from tests.core.samples import CATALOGUE, notated_plans

DESIGN = """\
config: files.read path=app/config.toml
brief:  text.summarize text="{{config.text}}"
post:   slack.post_message channel=#ops text="{{brief.summary}}"   !break
"""


def one(text: str, **more: Any) -> Step:
    (step,) = parse(text, **more).steps
    return step


def test_the_example_of_the_readme_is_read() -> None:
    config, brief, post = parse(DESIGN, goal="Tell #ops").steps
    assert (config.id, config.tool, config.args) == ("config", "files.read", {"path": "app/config.toml"})
    assert brief.needs == ("config",)
    assert post.args == {"channel": "#ops", "text": "{{brief.summary}}"}
    assert post.breakpoint


@given(notated_plans())
def test_what_is_printed_is_read_back_as_the_same_plan(drawn: Plan) -> None:
    assert parse(print_plan(drawn), goal=drawn.goal) == drawn


@given(notated_plans())
def test_a_printed_plan_has_one_line_for_each_step(drawn: Plan) -> None:
    assert len(print_plan(drawn).split("\n")) == len(drawn.steps)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("-2.5", -2.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("True", "True"),
        ("007", "007"),
        ("1e999", "1e999"),
        ("NaN", "NaN"),
        ('"5"', "5"),
        ("'true'", "true"),
        ("app/config.toml", "app/config.toml"),
        ("", ""),
        ('""', ""),
        ('"a b"', "a b"),
        (r'"a\nb\t\"c\" \\ \d"', 'a\nb\t"c" \\ \\d'),
        (r"'a\nb'", r"a\nb"),
        ('"two\nlines"', "two\nlines"),
        (r"a\ b", "a b"),
        ("a'b c'd", "ab cd"),
        ('["a b", 1, null]', ["a b", 1, None]),
        ('{"a": {"b": [true]}}', {"a": {"b": [True]}}),
        ("[“a”, “b c”]", ["a", "b c"]),
        ("{{old.text}}", "{{old.text}}"),
        ("{{ old.files[?name=='a b'] }}", "{{ old.files[?name=='a b'] }}"),
        ("{{a.x}}-{{b.y}}", "{{a.x}}-{{b.y}}"),
        ("a=b", "a=b"),
        (r'"\u202e"', "\u202e"),
    ],
)
def test_values_are_read_as_written(written: str, value: Any) -> None:
    found = one(f"x.y v={written} w=1").args
    assert found == {"v": value, "w": 1}
    assert type(found["v"]) is type(value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("“deploy —dry-run”", "deploy —dry-run"),
        ("‘staging’", "staging"),
        ("‘it’s here’", "it’s here"),
        ("„so“", "so"),
        ("“say ‘hi’ now”", "say ‘hi’ now"),
        ('"keeps “these” and —"', "keeps “these” and —"),
        ("don’t", "don’t"),
        ("a—b", "a—b"),
    ],
)
def test_c014_curly_quotes_and_dashes_are_normal_only_where_they_delimit(written: str, value: str) -> None:
    assert one(f"x.y text={written}").args == {"text": value}


def test_c014_entities_are_left_to_the_caller() -> None:
    assert one('x.y text="a &lt; b &amp;&amp; c"').args == {"text": "a &lt; b &amp;&amp; c"}


def test_steps_stand_on_lines_or_between_semicolons_but_not_in_quotes() -> None:
    steps = parse('x.a v="1; 2"; x.b\n\n  # a comment; x.no\nx.c; # another\r\nx.d \\\n v=1').steps
    assert [step.tool for step in steps] == ["x.a", "x.b", "x.c", "x.d"]
    assert steps[3].args == {"v": 1}


def test_steps_without_an_id_get_the_next_one_that_nobody_has() -> None:
    assert [step.id for step in parse("x.a; s2: x.b; x.c; x.d").steps] == ["s1", "s2", "s3", "s4"]
    assert [step.id for step in parse_steps("x.a", used=["s1", "s2"])] == ["s3"]


def test_the_steps_own_words() -> None:
    step = one('a: x.y v=1 after=b,c !break timeout=30 on_failure=stop retries=2 "timeout"=5 -- Why it is done # really')
    expected = {"depends_on": ("b", "c"), "breakpoint": True, "timeout_s": 30.0, "on_failure": "stop", "retries": 2}
    assert {name: getattr(step, name) for name in expected} == expected
    assert step.args == {"v": 1, "timeout": 5}
    assert step.purpose == "Why it is done # really"


@pytest.mark.parametrize("dash", ["--", "—", "–"])
def test_c014_a_purpose_may_follow_a_dash_of_any_client(dash: str) -> None:
    first, second = parse(f"x.y v=a--b {dash} Make it — short; x.z {dash}").steps
    assert (first.args, first.purpose, second.purpose) == ({"v": "a--b"}, "Make it — short", "")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "no step here"),
        ("# only this", 1, "no step here"),
        ("x.a\nx.b v", 2, "'v' is not name=value"),
        ("x.a\n\n1: x.b", 3, "cannot be a step's id"),
        ("a:", 1, "the tool is missing"),
        ("path=x", 1, "the tool is missing"),
        ('x.a v="open', 1, "not closed"),
        ("x.a v='open\nx.b", 1, "not closed"),
        ("x.a v=[1, b]", 1, "not a list or an object"),
        ('x.a v={"a": 1, "a": 2}', 1, "not a list or an object"),
        ("x.a v=[NaN]", 1, "not a list or an object"),
        ("x.a v=[1]x", 1, "not a list or an object"),
        ("x.a v=1 v=2", 1, "stands there twice"),
        ("x.a =1", 1, "not name=value"),
        ("x.a !brake", 1, "not name=value"),
        ("x.a\nx.b after=1,", 2, "does not name steps"),
        ("x.a timeout=soon", 1, "is not a time"),
        ("x.a timeout=0", 1, "is not a time"),
        ("x.a on_failure=retry", 1, "is not known"),
        ("x.a retries=9", 1, "is not a number of tries"),
        ("x.a -- " + "w" * 121, 1, "purpose"),
    ],
)
def test_faults_name_the_line_what_and_the_mending(text: str, line: int, says: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse(text)
    fault = caught.value.faults[0]
    assert fault.field == f"line {line}"
    assert says in fault.says
    assert fault.fix


def test_every_fault_is_told_not_only_the_first() -> None:
    with pytest.raises(NotationError) as caught:
        parse("x.a v\nx.b timeout=x\nx.c v=[")
    assert {fault.field for fault in caught.value.faults} == {"line 1", "line 2", "line 3"}


def test_with_a_catalogue_a_bare_value_of_a_text_argument_stays_text() -> None:
    assert one("files.read path=2024", catalogue=CATALOGUE).args == {"path": "2024"}
    assert one("a: files.read path=[x]*.md", catalogue=CATALOGUE).args == {"path": "[x]*.md"}
    assert one("time.wait seconds=5", catalogue=CATALOGUE).args == {"seconds": 5}
    assert one("files.read path=2024").args == {"path": 2024}


def test_c033_a_quoted_number_is_text_even_where_a_number_is_wanted() -> None:
    assert one('time.wait seconds="5"', catalogue=CATALOGUE).args == {"seconds": "5"}


@pytest.mark.parametrize("text", ["```files.read path=a```", "```\nfiles.read path=a\n```", "`files.read path=a`"])
def test_backticks_around_the_whole_are_no_part_of_it(text: str) -> None:
    assert looks_like(text)
    assert one(text).args == {"path": "a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DESIGN, True),
        ("files.list", True),
        ("# first\n\nfiles.read path=x", True),
        ("a: files.read; files.list", True),
        ("files.read -- Why", True),
        ('x.y "odd name"=1', True),
        ("read notes/today.md, then summarize it", False),
        ("What is files.read for?", False),
        ("Please look at README.md and tell me", False),
        ("note: remember the milk", False),
        ("", False),
        ("5 = 5", False),
    ],
)
def test_plain_notation_is_told_from_prose(text: str, *, expected: bool) -> None:
    assert looks_like(text) is expected


def test_a_goal_is_made_from_the_steps_if_none_is_given() -> None:
    assert parse(DESIGN).goal == "Read app/config.toml, summarize and post message #ops"
    assert len(parse("; ".join(["x.do_something_long"] * 40)).goal) <= 230
    assert parse(DESIGN, goal="  Mine ").goal == "Mine"


def test_ids_are_padded_so_that_the_tools_stand_in_a_column() -> None:
    lines = print_plan(parse(DESIGN)).splitlines()
    assert lines[0] == "config: files.read path=app/config.toml"
    assert lines[2] == 'post:   slack.post_message channel=#ops text="{{brief.summary}}" !break'


def test_hidden_characters_are_printed_so_that_they_can_be_seen() -> None:
    step = Step(id="a", tool="x.y", args={"v": "a\u202eb", "w": ["\u200b", "\U000e0041"]})
    assert print_step(step) == r'a: x.y v="a\u202Eb" w=["\u200b", "\udb40\udc41"]'
    assert one(print_step(step)) == step


def test_purposes_can_be_left_out_where_they_stand_elsewhere() -> None:
    step = Step(id="a", tool="x.y", purpose="Why")
    assert print_step(step) == "a: x.y -- Why"
    assert print_step(step, purposes=False) == "a: x.y"
