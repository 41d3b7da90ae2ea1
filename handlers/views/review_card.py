"""The review card: people read a plan and decide. What it shows is what an approval covers.

Risky steps stand first and one by one, low ones share a block. A plan that does not stand here in full, every argument uncut, has no
Approve on its card: Show all is then the way, and Approve is on its last page. Once the review is over the same message folds to four
lines (`closed_review`).
"""

from bot.core.run import RunStatus
from bot.core.snapshot import Approval
from handlers.views import blocks, closed_review, ids, pages, plan_body, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK, OFFER_BREAKPOINT, Block, Card, Scene
from handlers.views.text import count, date, fallback, joined, ping


def review_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, revision: int | None = None) -> Card:
    """The review of a revision (the current one unless said) as it stands now: open, or closed with what became of it."""
    current = revision is None or revision == scene.run.revision
    if scene.run.status is RunStatus.IN_REVIEW and current:
        return open_review(scene, offers=offers)
    return closed_review.closed_review(scene, offers=offers, revision=revision)


def open_review(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """People are asked. `offers` names the moves beyond Approve, Edit and Cancel that this installation has."""
    body, complete = plan_body.plan_body(scene)
    made = [
        blocks.header(f"{words.WAITS} {_state(scene)} · {words.risk_count(scene)}"),
        words.goal(scene),
        words.id_line(scene, words.step_counts(scene)),
        blocks.divider(),
        *body,
        *plan_body.order(scene),
        blocks.divider(),
        blocks.section("\n".join(_terms(scene, complete))),
        *_buttons(scene, complete, offers),
    ]
    return Card(_fallback(scene, complete), made)


def given(scene: Scene) -> list[Approval]:
    """Approvals of the current revision so far."""
    return [one for one in scene.snapshot.approvals if one.kind == "plan" and one.digest == scene.run.digest]


def _state(scene: Scene) -> str:
    missing = scene.quorum - len(given(scene))
    return "Needs one more approval" if given(scene) and missing == 1 else "Needs approval"


def _terms(scene: Scene, complete: bool) -> list[str]:
    """What decides, who may, until when."""
    said = given(scene)
    lines = []
    if not complete:
        number = pages.page_count(scene)
        where = "; *Approve* is there" if number == 1 else f" and go through its {number} pages; *Approve* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all*{where}.")
    if scene.quorum > 1:
        signed = " ".join(f"✓ {ping(one.actor)} {date(one.at, now=scene.now)}" for one in said)
        lines.append("*Approvals:* " + joined(f"{len(said)} of {scene.quorum}", signed))
    if said:
        lines.append(f"*Still needed:* {count(scene.quorum - len(said), 'more person', 'more people')}. Nothing has started.")
    lines.append(f"*Who may approve:* {scene.approvers}")
    if scene.run.deadline:
        lines.append(f"*Until:* {date(scene.run.deadline, now=scene.now)}, then it expires and nothing runs")
    return lines


def _buttons(scene: Scene, complete: bool, offers: frozenset[str]) -> list[Block]:
    value, hears = ids.encode(scene.run.id, scene.run.revision), words.about(scene)
    main = ids.REVIEW_APPROVE if complete else ids.REVIEW_SHOW_ALL
    asked = blocks.button(ids.REVIEW_ASK, value, about=hears) if OFFER_ASK in offers else None
    menu = blocks.select(ids.REVIEW_BREAKPOINT, "Pause before…", words.options(scene, value, list(scene.plan.steps)))
    return blocks.actions(
        f"review:{scene.run.id}.{scene.run.version}",
        blocks.button(main, value, about=hears, style="primary"),
        blocks.button(ids.REVIEW_EDIT, value, about=hears),
        asked,
        blocks.button(ids.REVIEW_CANCEL, value, about=hears),
        blocks.button(ids.REVIEW_SHOW_ALL, value, about=hears) if complete else None,
        menu if OFFER_BREAKPOINT in offers and complete else None,
    )


def _fallback(scene: Scene, complete: bool) -> str:
    until = f"until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    said = given(scene)
    progress = f"{len(said)} of {scene.quorum} approvals" if scene.quorum > 1 else ""
    unread = "" if complete else "not shown in full here: open Show all"
    return fallback(
        f"{_state(scene)}: {scene.run.id}",
        words.risk_in_text(scene),
        unread or words.goal_in_text(scene),
        progress,
        f"{scene.approvers} {until}",
    )
