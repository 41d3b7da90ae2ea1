"""The review card: people read a plan and decide. What it shows is what an approval covers.

Risky steps stand first and one by one, low ones share a block. A plan that does not stand here in full, every argument uncut, has no
Approve on its card: Show all is then the way, and Approve is on its last page. Once the review is over the same message folds to four
lines (`closed_review`).
"""

from bot.core import rest
from bot.core.run import Event, RunStatus
from bot.core.snapshot import Approval
from handlers.views import blocks, changes, closed_review, ids, pages, plan_body, record, redirect_closed, regraded, who_may, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK, OFFER_BREAKPOINT, Block, Card, Element, Scene
from handlers.views.text import date, date_element, fallback, in_words, is_person, joined, outside

MOST_FAULTS = 5


def review_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, revision: int | None = None) -> Card:
    """The review of a revision (the current one unless said) as it stands now: open, or closed with what became of it."""
    current = revision is None or revision == scene.run.revision
    if scene.run.status is RunStatus.IN_REVIEW and current:
        return open_review(scene, offers=offers)
    if scene.run.status is RunStatus.PLANNING and current:
        return planned_again(scene)
    return closed_review.closed_review(scene, offers=offers, revision=revision)


def open_review(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """People are asked. `offers` names the moves beyond Approve, Edit and Cancel that this installation has."""
    body, complete = plan_body.plan_body(scene)
    made = [
        blocks.header(f"{words.WAITS} {_state(scene)} · {words.risk_count(scene)}"),
        words.goal(scene),
        blocks.context(joined(scene.run.id, _numbered(scene), words.asked_by(scene), _made_by(scene), words.step_counts(scene))),
        *_news(scene),
        blocks.divider(),
        *body,
        *plan_body.order(scene),
        blocks.divider(),
        blocks.section("\n".join(_terms(scene, complete))),
        *_buttons(scene, complete, offers),
    ]
    return Card(_fallback(scene, complete), made)


def planned_again(scene: Scene) -> Card:
    """Somebody asked for changes: until there is another revision nothing can be approved."""
    entry = record.last(scene.snapshot, Event.CHANGES_ASKED)
    said = str(entry.data.get("words") or "") if entry else ""
    lines: list[Element] = []
    if entry:
        who = blocks.person(entry.actor) if is_person(entry.actor) else blocks.said(outside(entry.actor, 40))
        lines.append(blocks.line(who, blocks.said(" asked for changes, "), date_element(entry.at), blocks.said(":" if said else ".")))
    lines += [blocks.quote(blocks.said(outside(said, 1_000)))] if said else []
    lines.append(
        blocks.line(blocks.said("Another revision is being planned; it comes as a new card. If there is none, this one asks again."))
    )
    value = ids.encode(scene.run.id, scene.run.revision)
    cancel = blocks.button(ids.REVIEW_CANCEL, value, about=words.about(scene))
    made = [
        blocks.header(f"{words.WORKS} Planning again · changes were asked for"),
        words.goal(scene),
        words.id_line(scene, words.step_counts(scene)),
        blocks.rich(*lines),
        *blocks.actions(f"review:{scene.run.id}.{scene.run.version}", cancel),
    ]
    return Card(fallback(f"Planning again: {scene.run.id}", "changes were asked for; nothing can be approved meanwhile"), made)


def _numbered(scene: Scene) -> str:
    """`revision 2`; `revision 3 of 3` where the planner makes no more."""
    number, limit = scene.run.revision, scene.revisions_limit
    last = _asks_left(scene) <= 0 and number == limit
    return f"revision {number} of {limit}" if last else f"revision {number}"


def _asks_left(scene: Scene) -> int:
    """How many more revisions the planner may be asked for; one, if nobody knows."""
    if not scene.revisions_limit:
        return 1
    return scene.revisions_limit - rest.plans_wanted(scene.snapshot.entries)


def _made_by(scene: Scene) -> str:
    """`edited by approver2 14:10`, `changed for approver 14:20`."""
    new = scene.snapshot.revised(scene.run.revision)
    if new is None or record.before(scene.snapshot, new.revision) is None:
        return ""
    if anew := regraded.made_by(scene, new.revision):
        return anew
    if is_person(new.author):
        return f"edited by {words.profile(scene, new.author)} {date(new.at, now=scene.now)}"
    asked = [entry for entry in scene.snapshot.entries if entry.event == Event.CHANGES_ASKED and entry.at <= new.at]
    return f"changed for {words.profile(scene, asked[-1].actor)} {date(new.at, now=scene.now)}" if asked else ""


def _news(scene: Scene) -> list[Block]:
    """What is different from the revision before, and what the planner did not find."""
    anew = regraded.news(scene, scene.run.revision)
    if anew:
        return anew
    made = changes.since(scene)
    same = changes.same_as(scene)
    if same is not None:
        says = f"This is the same plan as revision {same.revision}."
        made = [blocks.rich(blocks.line(blocks.said("⚠️ "), blocks.strong(says), blocks.said(" Approve, edit by hand, or cancel.")))]
    return [*made, *_not_found(scene)]


def _not_found(scene: Scene) -> list[Block]:
    """Changes were asked for, and the planner has no other plan."""
    entry = record.last(scene.snapshot, Event.PLAN_KEPT, Event.PLANNED, Event.REVISED)
    if entry is None or entry.event != Event.PLAN_KEPT:
        return []
    asked = record.last(scene.snapshot, Event.CHANGES_ASKED)
    wish = outside(str(asked.data.get("words") or ""), 600) if asked else ""
    said = entry.data.get("faults")
    faults = [redirect_closed.fault_words(fault) for fault in said[:MOST_FAULTS]] if isinstance(said, list | tuple) else []
    lines = [blocks.line(blocks.said("⚠️ "), blocks.strong("The planner found no other plan"), blocks.said(" for this:" if wish else "."))]
    lines += [blocks.quote(blocks.said(wish))] if wish else []
    lines += [blocks.bullets([[blocks.said(fault)] for fault in faults])] if faults else []
    return [blocks.rich(*lines)]


def given(scene: Scene) -> list[Approval]:
    """Approvals of the current revision so far."""
    return record.given(scene.snapshot, scene.run.revision, scene.run.digest)


def _state(scene: Scene) -> str:
    missing = scene.quorum - len(given(scene))
    return "Needs one more approval" if given(scene) and missing == 1 else "Needs approval"


def _terms(scene: Scene, complete: bool) -> list[str]:
    """What decides, who may, until when."""
    lines = []
    if not complete:
        number = pages.page_count(scene)
        where = "; *Approve* is there" if number == 1 else f" and go through its {number} pages; *Approve* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all*{where}.")
    asked = who_may.of_revision(scene, scene.run, scene.run.revision, level=words.level_of(scene), given=given(scene))
    lines += who_may.lines(scene, asked)
    if scene.run.deadline:
        then = "it runs, since it only reads" if scene.silence_releases else "it expires and nothing runs"
        lines.append(f"*Until:* {date(scene.run.deadline, now=scene.now)}, then {then}")
    if _asks_left(scene) <= 0:
        used = in_words(scene.revisions_limit)
        one = scene.revisions_limit == 1
        lines.append(f"The {used} revision{' is' if one else 's are'} used up: approve, edit by hand, or cancel.")
    return lines


def _buttons(scene: Scene, complete: bool, offers: frozenset[str]) -> list[Block]:
    value, hears = ids.encode(scene.run.id, scene.run.revision), words.about(scene)
    main = ids.REVIEW_APPROVE if complete else ids.REVIEW_SHOW_ALL
    asked = blocks.button(ids.REVIEW_ASK, value, about=hears) if OFFER_ASK in offers and _asks_left(scene) > 0 else None
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
