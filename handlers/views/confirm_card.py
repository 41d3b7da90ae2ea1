"""The confirm card: a risky step has its real values now, and a person agrees to exactly these or does not.

The button carries the filling (the first eight of the digest of the values); other values would be another filling and ask again. Where the
tool can tell, target and before → after are shown; where it cannot, the card says so. What does not stand here in full cannot be confirmed
from here.
"""

from collections.abc import Mapping
from typing import Any

from bot.core.ids import short
from bot.core.plan import Step
from bot.core.run import Hold, RunStatus
from handlers.views import blocks, confirm_closed, filling, freeze, ids, who_may, words
from handlers.views.scene import NO_OFFERS, OFFER_CHANGE_ARGUMENTS, Block, Card, Scene
from handlers.views.text import date, escape, fallback

Values = Mapping[str, Any]


def confirm_card(
    scene: Scene,
    step_id: str,
    *,
    args: Values,
    digest: str,
    preview: Values | None = None,
    offers: frozenset[str] = NO_OFFERS,
    newest: bool = True,
) -> Card:
    """The confirm of one filling of a step as it stands now: open, or closed with what became of it.

    `args` are the filled-in values, `digest` is theirs, `preview` is the tool's (`target`, `facts`, `before`, `after`), if it has one.
    `newest`: no later card asks about this step.
    """
    run = scene.run
    step = next((step for step in scene.plan.steps if step.id == step_id), None)
    if step is None:
        return confirm_closed.left_out(scene, step_id, digest)
    held = run.reason is Hold.CONFIRM and run.held_step == step_id and run.status in (RunStatus.PAUSED, RunStatus.PAUSING)
    if held and newest and _is_current(scene, step_id, args):
        return open_confirm(scene, step, args=args, digest=digest, preview=preview, offers=offers)
    return confirm_closed.confirm_closed(scene, step, digest, still_held=held)


def _is_current(scene: Scene, step_id: str, args: Values) -> bool:
    """Are these still the values that the step would run with?"""
    now = words.state_of(scene, scene.plan.step(step_id)).args
    return now is None or dict(now) == dict(args)


def open_confirm(
    scene: Scene, step: Step, *, args: Values, digest: str, preview: Values | None = None, offers: frozenset[str] = NO_OFFERS
) -> Card:
    """People are asked once more, with the real values."""
    body, whole = filling.filling_body(scene, step, args, preview)
    whole = whole and blocks.size(body) <= blocks.MOST_CHARACTERS - 1_500
    if not whole:
        body = filling.in_brief(scene, step, args, preview)
    grade = words.grade_with_values(scene, step)
    asked = who_may.of_values(scene, step, level=grade.level, filling=digest)
    place = f"step {step.number} of {len(scene.plan.steps)}"
    made = [
        blocks.header(f"{words.WAITS} {_state(asked)} · {words.RISK[grade.level]}"),
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step)))),
        words.id_line(scene, place, "the plan was approved; this step asks once more with its real values", requester=False),
        blocks.divider(),
        *body,
        blocks.divider(),
        blocks.section("\n".join(_terms(scene, step, args, preview, whole, asked))),
        *_buttons(scene, step, digest, whole, offers),
        blocks.context(f"values `{short(digest)}` · Confirm covers exactly these values; if they change, it asks again"),
    ]
    return Card(_fallback(scene, step, whole, asked), made)


def _state(asked: who_may.Asked) -> str:
    return "Needs one more confirmation" if asked.given and asked.missing == 1 else "Needs confirmation"


def _terms(scene: Scene, step: Step, args: Values, preview: Values | None, whole: bool, asked: who_may.Asked) -> list[str]:
    lines = []
    if not whole:
        number = filling.page_count(scene, step, args, preview)
        where = "; *Confirm* is there" if number == 1 else f" and go through its {number} pages; *Confirm* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all*{where}.")
    lines += who_may.lines(scene, asked, verb="confirm", so_far="The step has not started.")
    if scene.run.deadline:
        until = date(scene.run.deadline, now=scene.now)
        lines.append(f"*Until:* {until}, then the step expires, nothing is changed and the run stops here")
    if scene.run.status is RunStatus.PAUSING:
        lines.append("Other steps are still finishing; the buttons come when they have.")
    return [*lines, *([frozen] if (frozen := freeze.in_brief(scene)) else [])]


def _buttons(scene: Scene, step: Step, digest: str, whole: bool, offers: frozenset[str]) -> list[Block]:
    if scene.run.status is not RunStatus.PAUSED:
        return []
    value, hears = ids.encode(scene.run.id, scene.run.revision, step.id, digest), words.about(scene, step.id)
    change = blocks.button(ids.CONFIRM_CHANGE, value, about=hears) if OFFER_CHANGE_ARGUMENTS in offers else None
    main = ids.CONFIRM_CONFIRM if whole else ids.CONFIRM_SHOW_ALL
    if scene.snapshot.freeze is not None:  # nothing that lets go works; reading does
        return blocks.actions(f"confirm:{scene.run.id}.{scene.run.version}", blocks.button(ids.CONFIRM_SHOW_ALL, value, about=hears))
    return blocks.actions(
        f"confirm:{scene.run.id}.{scene.run.version}",
        blocks.button(main, value, about=hears, style="primary"),
        blocks.button(ids.CONFIRM_REFUSE, value, about=hears),
        change,
    )


def _fallback(scene: Scene, step: Step, whole: bool, asked: who_may.Asked) -> str:
    level = f"{words.grade_with_values(scene, step).level.value.capitalize()} risk"
    until = f"until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    unread = "" if whole else "too long for this card: open Show all"
    named = f"{_state(asked)}: {scene.run.id} step {step.number}"
    return fallback(named, escape(words.does(scene, step)), level, unread, f"{scene.approvers} {until}".strip())
