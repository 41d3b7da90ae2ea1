"""Private answers: what did not happen and why, what is true now, and the next move.

The rules answer with a kind and facts (`bot.errors.Refused`); here they become two to four lines for the one person who acted. Every kind
has words; one that is new gets a general answer with the state of the run, never silence.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.core.characters import utf16
from bot.tools.masks import redact
from handlers.views import blocks, reloaded
from handlers.views import refused_changes as corded
from handlers.views import refused_decisions as decided
from handlers.views import refused_moves as moved
from handlers.views.case import Case, Telling
from handlers.views.scene import Block, Card, Scene
from handlers.views.text import FALLBACK_LIMIT, joined, outside, plain

LINK = re.compile(r"<https?://[^|<>]*\|([^<>]*)>")


def refusal(kind: str, facts: Mapping[str, Any], scene: Scene | None = None, *, commands: Mapping[str, str] | None = None) -> Card:
    """The private answer for a refusal. Never fails: facts that are missing are left out of the sentence."""
    case = Case(kind, facts, scene, commands or {})
    said = moved.FIXED.get(kind) or TELLINGS.get(kind, _general)(case)
    made: list[Block] = []
    opening = joined(f"*{said.what}*", said.now, by=" ")
    if said.words or said.reason:
        made += [blocks.section(opening), *_quoted(said), blocks.section(f"*Next:* {said.then}")]
    else:
        made.append(blocks.section(f"{opening}\n*Next:* {said.then}"))
    made += blocks.actions(f"private:{scene.run.id if scene else '1'}", said.button)
    return Card(_text(said), made)


def _quoted(said: Telling) -> list[Block]:
    """What somebody else gave as the reason, and the person's own words, so that they are not lost."""
    made = [blocks.rich(blocks.quote(blocks.said(outside(said.reason, 1_000))))] if said.reason else []
    if said.words and said.reason:
        made.append(blocks.section("Your words, so that they are not lost:"))
    return [*made, *([blocks.rich(blocks.quote(blocks.said(outside(redact(said.words), 1_000))))] if said.words else [])]


def why(kind: str) -> str:
    """The reason of a refusal as half a sentence, for the audit channel."""
    return WHYS.get(kind, plain(kind.replace("_", " "), 60))


def _text(said: Telling) -> str:
    """The same in one piece, links by their labels; too long, it ends before the next move."""
    parts = [LINK.sub(r"\1", part).replace("*", "") for part in (said.what, said.now, f"Next: {said.then}")]
    whole = joined(*parts, by=" ")
    return whole if utf16(whole) <= FALLBACK_LIMIT else joined(*parts[:2], by=" ")


def _general(case: Case) -> Telling:
    return Telling(f"{case.no}: {why(case.kind)}.", joined(case.state, "Nothing changed.", by=" "), f"look at {case.card('its card')}.")


TELLINGS: Mapping[str, Callable[[Case], Telling]] = {
    "already_done": moved.already_done,
    "already_frozen": corded.already_frozen,
    "already_paused": moved.already_paused,
    "already_running": moved.already_running,
    "already_stopping": moved.already_stopping,
    "ask_too_long": moved.ask_too_long,
    "asked_again": moved.asked_again,
    "bot": decided.bot,
    "budget_spent": moved.budget_spent,
    "confirm_void": decided.confirm_void,
    "deactivated": decided.deactivated,
    "double": decided.double,
    "expired": decided.expired,
    "fault": moved.fault,
    "edit_conflict": corded.edit_conflict,
    "edit_too_late": corded.edit_too_late,
    "form_expired": moved.form_expired,
    "frozen": corded.frozen,
    "guest": decided.guest,
    "held_otherwise": moved.held_otherwise,
    "late_approved": decided.late_approved,
    "late_cancelled": decided.late_cancelled,
    "moved_on": moved.moved_on,
    "no_policy_file": reloaded.no_file,
    "no_redirects_left": corded.no_redirects_left,
    "no_revisions_left": decided.no_revisions_left,
    "no_words": corded.no_words,
    "nobody_set": decided.nobody_set,
    "not_admin": corded.not_admin,
    "not_allowed": decided.not_allowed,
    "not_approved": decided.not_approved,
    "not_frozen": corded.not_frozen,
    "not_live": corded.not_live,
    "not_started": moved.not_started,
    "not_waiting": decided.not_waiting,
    "not_yet": moved.not_yet,
    "invalid_plan": corded.invalid_plan,
    "nothing_changed": corded.nothing_changed,
    "nothing_to_do": moved.nothing_to_do,
    "nothing_to_withdraw": corded.nothing_to_withdraw,
    "unknown_word": moved.unknown_word,
    "plan_no_access": moved.plan_no_access,
    "open_first": decided.open_first,
    "own_edit": decided.own_edit,
    "own_request": decided.own_request,
    "partner": decided.partner,
    "plan_empty": moved.plan_empty,
    "quorum": decided.quorum,
    "resume": decided.resume,
    "source_author": decided.source_author,
    "stale": decided.stale,
    "step_started": moved.step_started,
    "step_up": decided.step_up,
    "tool_changed": decided.tool_changed,
    "unknown_revision": moved.unknown_revision,
    "unknown_run": moved.unknown_run,
    "unknown_step": moved.unknown_step,
}

WHYS: Mapping[str, str] = {
    "already_done": "the run had ended",
    "already_frozen": "everything was frozen already",
    "already_paused": "the run stood already",
    "already_running": "the run was past its review",
    "already_stopping": "the run was stopping already",
    "asked_again": "it had been asked again already",
    "bot": "a bot does not decide",
    "budget_spent": "more of the budget had been granted before",
    "confirm_void": "the values had changed",
    "deactivated": "the account is deactivated",
    "double": "the same person again",
    "edit_conflict": "another revision had come meanwhile",
    "edit_too_late": "the plan could not be edited any more",
    "expired": "after the deadline",
    "frozen": "everything is frozen",
    "guest": "a guest does not decide",
    "held_otherwise": "the run was held for another reason",
    "late_approved": "somebody had approved it already",
    "late_cancelled": "somebody had cancelled it already",
    "invalid_plan": "the plan did not pass the checks",
    "moved_on": "the card was out of date",
    "no_policy_file": "no policy file is named",
    "no_redirects_left": "the redirects of the run were used up",
    "no_revisions_left": "the revisions of the review were used up",
    "no_words": "nothing was said",
    "nobody_set": "the policy names no approvers",
    "not_admin": "not among the admins",
    "not_allowed": "not among those who may",
    "not_frozen": "nothing was frozen",
    "not_live": "the run was not live",
    "not_started": "the run had not started",
    "not_waiting": "the run waited for nobody",
    "nothing_changed": "nothing was changed in it",
    "nothing_to_withdraw": "there was no change to withdraw",
    "open_first": "the plan had not been opened in full",
    "own_edit": "own edit, or it follows their own reply",
    "own_request": "own request at that risk",
    "partner": "an account from another workspace",
    "quorum": "the same person again; a second one is needed",
    "resume": "may pull the cord, may not let go",
    "source_author": "author of the message that the plan was made from",
    "stale": "an older revision",
    "step_started": "the step had started",
    "step_up": "it was not given in writing",
    "tool_changed": "a tool had changed",
    "unknown_run": "no record of that run",
}
