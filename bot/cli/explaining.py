"""`policy explain`: what the policy makes of a plan, for people and as data. Without Slack, so the caller says whom a name means."""

import asyncio
import json
import sys
from pathlib import Path

from rich.console import Console

from bot.cli.planning import read_plan, say_faults, tools_of
from bot.core import notation
from bot.core.catalogue import Catalogue
from bot.core.characters import visible
from bot.core.estimate import order_line
from bot.core.explanation import Answer, Approving, Explained, Explanation, explain
from bot.core.ids import short
from bot.core.plan import Plan, digest, numbered
from bot.core.policy import Member, Policy
from bot.core.validation import validate
from bot.errors import ConfigurationError
from bot.settings import load

console = Console(highlight=False, soft_wrap=True)
UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def explain_plan(
    plan: str, data: Path | None, *, policy: Path | None, who: str | None, groups: list[str], asked_in: str, as_json: bool
) -> int:
    """0 for a plan that could run, 1 for one that is faulty or denied."""
    from bot.app import read_policy

    settings = load(data)
    rules = read_policy(policy or settings.policy)
    member = _member(rules, who, groups)
    catalogue, digests = asyncio.run(tools_of(settings, rules))
    try:
        drawn = numbered(_plan(plan, catalogue))
    except notation.NotationError as fault:
        return say_faults([str(each) for each in fault.faults], as_json=as_json)
    if faults := validate(drawn, catalogue, max_steps=rules.limits.steps):
        return say_faults([str(fault) for fault in faults], as_json=as_json)
    found = explain(drawn, catalogue, rules, member=member, asked_in=asked_in)
    called = {step.tool for step in drawn.steps}
    head = {"digest": digest(drawn, {name: value for name, value in digests.items() if name in called}), "order": order_line(drawn)}
    if as_json:
        about = {"as": who, "listed": sorted(member.listed)} if member else {}
        whole = {"ok": not found.denied, **head, **about, **found.model_dump(mode="json")}
        sys.stdout.write(json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    else:
        _print(found, rules, member, f"digest {short(head['digest'])} · order {head['order']}")
    return 1 if found.denied else 0


def _plan(given: str, catalogue: Catalogue) -> Plan:
    """A file of that name, or else the text itself as notation. Raises `ConfigurationError` for what is neither."""
    if "\n" in given or (" " in given and not Path(given).exists()):
        return notation.parse(given, catalogue=catalogue)
    return read_plan(Path(given), catalogue)


def _member(rules: Policy, who: str | None, groups: list[str]) -> Member | None:
    """Somebody of whom only the name and the groups are known. Raises `ConfigurationError` for a group that no list of the policy names."""
    if who is None:
        if groups:
            raise ConfigurationError("--in says where somebody belongs; say who with --as")
        return None
    for group in groups:
        if not {group, f"@{group}", f"#{group}"} & {*rules.names}:
            named = [entry for entry in rules.names if entry[:1] in ("@", "#")]
            raise ConfigurationError(f"--in {group}: the policy names no such group; it names {', '.join(named) or 'none'}")
    entries = {who, *(form for group in groups for form in (group, f"@{group}", f"#{group}"))}
    return Member(id=who, listed=frozenset(entries & {*rules.names}))


def _say(text: str) -> None:
    console.print(visible(text), markup=False)


def _print(found: Explanation, rules: Policy, member: Member | None, head: str) -> None:
    _say(f"{found.risk} risk · {head} · profile {rules.profile}")
    _say(_happens(found))
    for step in found.steps:
        _print_step(step)
    if found.approving:
        _say("")
        for line in _who(found.approving, rules.profile):
            _say(line)
    if member and found.answers:
        known = f" (in {', '.join(sorted(member.listed))})" if member.listed else " (whom no list of the policy names)"
        _say("")
        _say(f"{member.id}{known}:")
        for answer in found.answers:
            _say(f"  {_answer(answer, member, found.approving)}")
    for fault in found.denied:
        _say(f"refused: {fault}")


def _happens(found: Explanation) -> str:
    if found.happens == "denied":
        return "cannot be planned: the policy denies it"
    if found.approving is None:
        return "runs at once: it only reads"
    silence = "then, if nobody answered, it goes on: it only reads" if found.approving.on_silence == "goes on" else "then it expires"
    return f"waits for {found.approving.quorum} approval(s), {_span(found.approving.expire_s)} at most, {silence}"


def _print_step(step: Explained) -> None:
    _say("")
    _say(f"{step.number} · {step.does}")
    _say(f"    {step.effect or 'unknown'} · {step.mode} ({step.mode_from}) · {step.risk} risk")
    _say(f"    because {'; '.join(step.reasons)}")
    if step.rules:
        _say(f"    rules: {', '.join(step.rules)}")
    for trial in step.shadow:
        _say(f"    on trial: {trial.rule} would have made it {trial.would_be}")
    if step.confirm:
        typed = ", typed" if step.confirm.typed else ""
        _say(f"    asks again just before it runs, with its real values: one more yes{typed}, {_span(step.confirm.expire_s)} at most")


def _who(needs: Approving, profile: str) -> list[str]:
    named = [*needs.approvers, *(["whoever asked"] if profile == "personal" else [])]
    lines = [f"who may approve: {', '.join(named) or 'nobody, since approvers names nobody'}"]
    if needs.escalation and needs.escalate_s:
        lines.append(f"  after {_span(needs.escalate_s)} also: {', '.join(needs.escalation)}")
    if needs.may_not:
        lines.append(f"  but not: {', '.join(needs.may_not)}")
    if needs.quorum > 1:
        lines.append(f"  {needs.quorum} different people must agree")
    if needs.typed:
        lines.append("  the yes is typed, not only pressed")
    if needs.remind_s:
        lines.append(f"  reminded after {_span(needs.remind_s)}")
    return lines


def _answer(answer: Answer, member: Member, needs: Approving | None) -> str:
    asked = f"if {answer.asked_by} asked" if answer.asked_by != member.id else "if they asked it themselves"
    after = f" and nobody answered for {_span(needs.escalate_s)}" if answer.escalated and needs and needs.escalate_s else ""
    return f"{asked}{after}: {'may approve' if answer.may else f'would be refused, since {answer.says}'}"


def _span(seconds: int) -> str:
    """5400 is 1h30m, as the file would have it."""
    words = ""
    for sign, size in UNITS:
        if seconds >= size:
            words += f"{seconds // size}{sign}"
            seconds %= size
    return words
