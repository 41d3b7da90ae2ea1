"""Personal data is masked where the policy says so, in what tools return and say; what only looks a little like it stays."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from bot.core.policy_file import Personal
from bot.errors import ToolFailed
from bot.tools.personal import masker, nothing
from bot.tools.registry import Preview, Registry, ToolContext, tool
from bot.tools.sanitize import lossy

ALL = Personal(email=True, phone=True, card=True)


@pytest.mark.parametrize(
    ("before", "kind", "personal", "after"),
    [
        ("write to ", "email", "jane.doe+x@mail.example.co.uk", ", she said"),
        ("<", "email", "a@b.example", ">"),
        ("call ", "phone", "+49 (30) 901820-0", "!"),
        ("call ", "phone", "+49 30 901820", "!"),
        ("", "phone", "+1-555-123-4567", ""),
        ("tel ", "phone", "(555) 123-4567", "."),
        ("tel ", "phone", "555-123-4567", "."),
        ("Ruf ", "phone", "030 901820 12", " an"),
        ("card ", "card", "4111 1111 1111 1111", ";"),
        ("card ", "card", "5500-0000-0000-0004", ";"),
        ("card ", "card", "378282246310005", ""),
    ],
)
def test_what_counts_as_personal_is_masked_and_the_rest_stays_readable(before: str, kind: str, personal: str, after: str) -> None:
    shown = masker(ALL)(before + personal + after)
    assert personal not in shown
    assert shown.startswith(f"{before}⟦{kind} ")
    assert shown.endswith(f"⟧{after}")
    assert masker(ALL)(shown) == shown
    assert masker(Personal())(before + personal + after) == before + personal + after


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02 12:00:00 and 2026-03-02T12:00:00Z",
        "10.0.0.1, 192.168.100.200:8080, v1.2.3",
        "4111 1111 1111 1112 has the wrong check digit",
        "0000 0000 0000 0000",
        "@here and user@localhost",
        "R-7K2QX.post.12345678, 1772452800.000100",
        "sha256 " + "0123456789" * 6,
        "12,345,678 bytes in 1 024 files",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert masker(ALL)(text) == text


def test_equal_values_have_equal_masks_and_patterns_have_their_own_names() -> None:
    cover = masker(Personal(email=True, patterns={"Staff no": r"\bE\d{5}\b"}))
    a, b, c = cover("a@x.example a@x.example b@x.example").split("⟧ ")
    assert (a == b, a == c.rstrip("⟧")) == (True, False)
    assert cover("E12345").startswith("⟦staff-no ")


def test_no_policy_means_no_work() -> None:
    assert masker(Personal()) is nothing


def test_a_text_that_lost_personal_data_is_not_the_whole_text() -> None:
    assert lossy(masker(ALL)("to a@b.example")) == "personal data in it was masked"


class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")
    to: str


class Found(BaseModel):
    people: list[str]


async def test_results_failures_previews_and_progress_are_masked_and_the_tool_gets_what_was_typed() -> None:
    seen: list[str] = []
    said: list[str] = []

    @tool(name="test.find", effect="read", says="Finds {to}", target="to")
    def find(args: Args, ctx: ToolContext) -> Found:
        """Find somebody. Use it in tests. Not for real work."""
        seen.append(args.to)
        ctx.progress(f"asks {args.to}")
        if args.to.startswith("no"):
            raise ToolFailed(f"nobody has {args.to}")
        return Found(people=[args.to])

    @find.preview
    def preview(args: Args, _ctx: ToolContext) -> Preview:
        return Preview(target=args.to, after=f"to: {args.to}")

    registry = Registry([find])
    ctx: Any = lambda: ToolContext(  # noqa: E731
        run_id="R-1", step_id="a", key="k", now=lambda: datetime(2026, 3, 2, tzinfo=UTC), on_progress=said.append, cover=masker(ALL)
    )
    found = await registry.call("test.find", {"to": "a@b.example"}, ctx())
    shown = await registry.preview("test.find", {"to": "a@b.example"}, ctx())
    with pytest.raises(ToolFailed) as caught:
        await registry.call("test.find", {"to": "nobody@b.example"}, ctx())

    assert seen == ["a@b.example", "nobody@b.example"]
    assert "b.example" not in f"{found} {shown} {caught.value} {said}"
    assert "⟦email " in str(found.value)
