"""The redirect card: a reply (or an edit by hand) has led to another plan for the rest of a run, and people see what that changes.

What is asked stands first and in full, as on a review, each changed step with its from → to; an approval counts for those steps only. Then
what is new or changed and asks nobody, what is removed, and what is kept. Where nothing is asked the run goes on at once and this card says
so; where there is no such plan, it says why. Once the question is settled the same message folds to what became of it (`redirect_closed`).
"""

from dataclasses import dataclass

from bot.core.comparison import Comparison, compare, level_of
from bot.core.completeness import is_complete
from bot.core.ids import StepId
from bot.core.plan import Plan, Step
from bot.core.references import sources
from bot.core.run import STANDS_BY_ITSELF, Event, Hold, Redirect, StepStatus
from bot.core.snapshot import Approval, Entry, Revision
from handlers.views import arguments, blocks, changes, held_redirect, ids, pages, plan_body, record, redirect_closed, who_may, words
from handlers.views.freeze import in_brief
from handlers.views.scene import NO_OFFERS, Block, Card, Element, Scene
from handlers.views.text import count, date, fallback, ranges

MOST_LINES = 8
OUR_BLOCKS = 12  # header, replies, groups, terms, buttons and what else stands around the steps
OUR_CHARACTERS = 1_800


@dataclass(frozen=True)
class Change:
    """A redirect as the card shows it: the run before and after it, what differs, and what people are asked about."""

    was: Scene
    now: Scene
    asked: tuple[StepId, ...]
    differs: Comparison
    planned: Entry  # when the new rest was proposed, or adopted

    @property
    def settled(self) -> frozenset[str]:
        """Steps that had an end when it was proposed: nothing about them is asked."""
        ended = {state.id: state for state in self.now.snapshot.steps if state.status not in (StepStatus.PENDING, StepStatus.FAILED)}
        return frozenset(name for name, state in ended.items() if state.finished_at is None or state.finished_at <= self.planned.at)


def redirect_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, revision: int | None = None, failed: int | None = None) -> Card:
    """The card of a new rest (`revision`), or of a reply that led to none (`failed`: the version of the run then) as it stands."""
    if revision is None:
        return redirect_closed.impossible(scene, failed or 0)
    change = of_revision(scene, revision)
    if change is None:
        return redirect_closed.forgotten(scene, revision)
    if scene.run.redirect is Redirect.REVIEW and scene.run.proposed == revision:
        return open_redirect(change, offers=offers)
    if change.asked:
        return redirect_closed.decided(change.now, revision, change.planned)
    return nothing_asked(change)


def of_revision(scene: Scene, revision: int) -> Change | None:
    """What that revision changes in the one that stood when it was made; None if the record does not know it."""
    planned = redirect_closed.origin(scene, revision)
    new = scene.snapshot.revised(revision)
    old = record.stood(scene.snapshot, planned.seq) if planned else None
    if planned is None or new is None or old is None:
        return None
    asks = planned.data.get("asked")
    asked = held_redirect.asked_of(planned, new) if asks is None or asks else ()
    return Change(scene.under(old), scene.under(new), asked, compare(old.plan, new.plan), planned)


def given(scene: Scene, new: Revision) -> list[Approval]:
    """Approvals of the new rest so far."""
    return record.given(scene.snapshot, new.revision, new.digest)


def open_redirect(change: Change, *, offers: frozenset[str] = NO_OFFERS) -> Card:  # noqa: ARG001 — every card of a run takes them
    """People are asked about what is new, changed or riskier."""
    now = change.now
    body, complete = _body(change)
    made = [
        blocks.header(f"{words.WAITS} {_state(change)} · {_risk(change)}"),
        *_replies(change),
        words.id_line(now, f"the new rest: {_counts(change)}", requester=False),
        blocks.divider(),
        *body,
        *_order(change),
        blocks.divider(),
        blocks.section("\n".join(_terms(change, complete))),
        *_buttons(change, complete),
        blocks.context(_way_back(change), "To change the new rest, reply here again."),
    ]
    return Card(_fallback(change, complete), made)


def nothing_asked(change: Change) -> Card:
    """Nothing new needs a yes: the new rest took over at once."""
    now = change.now
    made = [
        blocks.header(redirect_closed.adopted_state(now)),
        *_replies(change),
        words.id_line(now, "nothing new, nothing riskier: no approval needed", requester=False),
        *_bounded([*_not_asked(change), *_removed(change), *_kept(change)]),
        *redirect_closed.adopted_end(now, change.planned),
    ]
    named = f"{now.run.id} revision {now.run.revision}"
    text = f"{named}: nothing new needs approval. {redirect_closed.goes_on(now, plain=True)} {_counts(change).capitalize()}."
    return Card(text, made)


def _replies(change: Change) -> list[Block]:
    told = held_redirect.said(change.was, record.asks(change.now.snapshot, until=change.planned.seq), mentions=False)
    return [blocks.rich(*told)] if told else []


def _state(change: Change) -> str:
    said = len(_given(change))
    return "Needs one more approval" if said and change.now.quorum - said == 1 else "Needs approval"


def _given(change: Change) -> list[Approval]:
    new = change.now.snapshot.revised(change.now.run.revision)
    return given(change.now, new) if new else []


def _risk(change: Change) -> str:
    """`🔺 High risk: 1 of 2 asked`: the risk of what is asked, not of the whole plan."""
    grades = [words.grade_of(change.now, change.now.plan.step(name)).level for name in change.asked]
    level = max(grades, key=lambda one: one.rank)
    return f"{words.RISK[level]}: {grades.count(level)} of {len(grades)} asked"


def _groups(change: Change) -> tuple[list[StepId], list[StepId], list[StepId]]:
    """Added, changed (or riskier than before), and kept, in the order of the new plan."""
    asked, differs = set(change.asked), change.differs
    order = [step.id for step in change.now.plan.steps]
    added = set(differs.added)
    changed = ({*differs.changed} | asked) - added
    return [i for i in order if i in added], [i for i in order if i in changed], [i for i in order if i not in added | changed]


def _counts(change: Change) -> str:
    added, changed, kept = _groups(change)
    removed = change.differs.removed
    said = {"added": added, "changed": changed, "removed": removed, "kept": kept}
    return ", ".join(f"{len(ids_of)} {name}" for name, ids_of in said.items() if ids_of) or "nothing differs"


def _body(change: Change) -> tuple[list[Block], bool]:
    """What is asked in full, then the rest in lines; and whether what is asked stands there uncut."""
    whole, made = True, []
    for sign, title, names in zip("+→", ("Added", "Changed"), _groups(change)[:2], strict=True):
        asked = [change.now.plan.step(name) for name in names if name in change.asked]
        if asked:
            made.append(_title(sign, f"{title} · {len(asked)}"))
        for step in _riskiest_first(change, asked):
            block, full = plan_body.step_block(change.now, step, more=_from_to(change, step))
            made.append(block)
            whole = whole and full
    rest = [*_not_asked(change), *_removed(change), *_kept(change)]
    room = len(made) + len(rest) <= blocks.MOST_BLOCKS - OUR_BLOCKS
    if room and blocks.size([*made, *rest, *_replies(change)]) <= blocks.MOST_CHARACTERS - OUR_CHARACTERS:
        return [*made, *rest], whole and is_complete(change.now.plan)
    return [_asked_in_brief(change), *_bounded(rest)], False


def _riskiest_first(change: Change, steps: list[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: (-words.grade_of(change.now, step).level.rank, step.number))


def _title(sign: str, words_of: str) -> Block:
    return blocks.rich(blocks.line(blocks.said(f"{sign} "), blocks.strong(words_of)))


def _from_to(change: Change, step: Step) -> list[Element]:
    """What is different about a step that was there before."""
    if step.id in change.differs.added:
        return []
    lines = changes.of_step(change.was, change.now, step.id)
    if not lines and step.id in change.differs.changed:
        lines = [[blocks.said(changes.reached(change.now, step.id, (*change.differs.added, *change.differs.changed)))]]
    lines += [[blocks.said(said)] for said in _riskier(change, step)]
    return [blocks.line(blocks.strong("From → to")), blocks.bullets(lines)] if lines else []


def _riskier(change: Change, step: Step) -> list[str]:
    """What else made it ask again: a higher grade, another definition of its tool."""
    before, after = (words.grade_of(scene, step).level for scene in (change.was, change.now))
    said = [f"risk: {before.value} → {after.value}"] if before is not after else []
    digests = [scene.snapshot.tool_digests.get(step.tool) for scene in (change.was, change.now)]
    known = step.tool in change.was.snapshot.tool_digests
    return [*said, *(["its tool has another definition now than when it was approved"] if known and digests[0] != digests[1] else [])]


def _asked_in_brief(change: Change) -> Block:
    """What is asked, named only: it is too much for one message."""
    steps = _riskiest_first(change, [change.now.plan.step(name) for name in change.asked])
    lines = [[blocks.said(f"{words.RISK[words.grade_of(change.now, step).level]} · {words.numbered(change.now, step)}")] for step in steps]
    more = [[blocks.said(f"and {count(len(lines) - MOST_LINES, 'more step')}")]] if len(lines) > MOST_LINES else []
    return blocks.rich(blocks.line(blocks.strong(f"Asked · {len(steps)}")), blocks.bullets([*lines[:MOST_LINES], *more]))


def _not_asked(change: Change) -> list[Block]:
    """New or changed steps that ask nobody: they only read, or are seen again before they run."""
    made = []
    for sign, title, names in zip("+→", ("Added", "Changed"), _groups(change)[:2], strict=True):
        steps = [change.now.plan.step(name) for name in names if name not in change.asked]
        if steps:
            lines = [[blocks.said(f"{step.number} · "), *_brief(change, step)] for step in steps]
            made.append(_list(sign, f"{title} · {len(steps)}, not asked", lines))
    return made


def _brief(change: Change, step: Step) -> list[Element]:
    shown = arguments.notation(change.now, step)
    first = list(shown.elements) if shown.whole else [blocks.said(words.does(change.now, step))]
    asks = words.grade_of(change.now, step).confirms
    return [*first, *([blocks.said(f"  {words.WAITS} asks first")] if asks else [])]


def _removed(change: Change) -> list[Block]:
    gone = [change.was.plan.step(name) for name in change.differs.removed]
    failed = {state.id for state in change.was.snapshot.steps if state.status is StepStatus.FAILED}
    lines = [
        [blocks.said(f"{words.numbered(change.was, step)} — {'had failed' if step.id in failed else 'had not started'}")] for step in gone
    ]
    return [_list("−", f"Removed · {len(gone)}", lines)] if lines else []


def _kept(change: Change) -> list[Block]:
    names = _groups(change)[2]
    lines = [[blocks.said(f"{words.numbered(change.now, step)} — {_stays(change, step)}")] for step in map(change.now.plan.step, names)]
    again = ", not asked again" if change.asked else ""
    return [_list("✓", f"Kept · {len(names)}{again}", lines)] if lines else []


def _stays(change: Change, step: Step) -> str:
    status = words.state_of(change.now, step).status
    if step.id not in change.settled:
        return "stays approved"
    return {StepStatus.SUCCEEDED: "done", StepStatus.SKIPPED: "left out", StepStatus.CANCELLED: "cancelled"}.get(status, "stays as it is")


def _list(sign: str, title: str, lines: list[list[Element]]) -> Block:
    kept = lines if len(lines) <= MOST_LINES + 1 else lines[:MOST_LINES]
    more = [[blocks.said(f"and {count(len(lines) - len(kept), 'more step')}")]] if len(kept) < len(lines) else []
    return blocks.rich(blocks.line(blocks.said(f"{sign} "), blocks.strong(title)), blocks.bullets([*kept, *more]))


def _bounded(made: list[Block]) -> list[Block]:
    """Lists of steps as far as the message has room for them."""
    while made and blocks.size(made) > blocks.MOST_CHARACTERS - 2 * OUR_CHARACTERS:
        made = made[:-1]
    return made


def _order(change: Change) -> list[Block]:
    """In which order the rest runs, roughly for how long, and how many redirects there may be."""
    rest = [step for step in change.now.plan.steps if step.id not in change.settled]
    names = {step.id for step in rest}
    alone = [
        step.model_copy(
            update={
                "args": {name: value for name, value in step.args.items() if not sources(value)},
                "depends_on": tuple(name for name in step.needs if name in names),
            }
        )
        for step in rest
    ]
    plan = Plan(goal=change.now.plan.goal, steps=tuple(alone))
    new = change.now.snapshot.revised(change.now.run.revision)
    made = plan_body.order(change.now.under(new.model_copy(update={"plan": plan}))) if new else []
    used, limit = redirect_closed.used_until(change.now, change.planned), change.now.redirects_limit
    return [*made, *([blocks.context(f"redirect {used} of {limit}")] if used and limit else [])]


def _terms(change: Change, complete: bool) -> list[str]:
    """What decides, who may, until when, and what silence does."""
    now = change.now
    numbers = ranges([now.plan.step(name).number for name in change.asked], final=" and ")
    covers = f"{'step' if len(change.asked) == 1 else 'steps'} {numbers}"
    lines = []
    if not complete:
        where = "; *Approve* is there" if pages.page_count(now) == 1 else " and go through its pages; *Approve* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all*{where}.")
    new = now.snapshot.revised(now.run.revision)
    if new is not None:
        asked = who_may.of_revision(now, change.was.run, new.revision, level=level_of(new, change.asked), given=_given(change))
        lines += who_may.lines(now, asked, covers=f", for {covers} only", so_far="Nothing of it has started.")
    if now.run.deadline:
        done = [step.number for step in now.plan.steps if words.state_of(now, step).status is StepStatus.SUCCEEDED]
        one = len(done) == 1
        stay = f"; {'step' if one else 'steps'} {ranges(done, final=' and ')} {'stays' if one else 'stay'} done" if done else ""
        lines.append(f"*Until:* {date(now.run.deadline, now=now.now)}, then the run stops here{stay}")
    return [*lines, *(said for said in (_also_paused(now), in_brief(now)) if said)]


def _also_paused(scene: Scene) -> str:
    """Somebody's own Pause under the question: a yes does not end it."""
    if scene.run.reason is not Hold.PERSON:
        return ""
    entry = record.last(scene.snapshot, Event.PAUSE_ASKED)
    who = f" by {words.profile(scene, entry.actor)}, {date(entry.at, now=scene.now)}" if entry else ""
    return f"*Paused*{who}: approved or not, the run stays so until somebody presses *Resume*."


def _buttons(change: Change, complete: bool) -> list[Block]:
    run = change.now.run
    value, hears = ids.encode(run.id, run.revision), words.about(change.now)
    main = ids.REVIEW_APPROVE if complete else ids.REVIEW_SHOW_ALL
    return blocks.actions(
        f"redirect:{run.id}.{run.version}",
        blocks.button(main, value, about=hears, style="primary"),
        blocks.button(ids.REVIEW_EDIT, value, about=hears),
        blocks.button(ids.REVIEW_SHOW_ALL, value, about=hears) if complete else None,
        blocks.button(ids.RUN_NEVER_MIND, value, about=hears),
        blocks.button(ids.RUN_STOP, run.id, about=run.id, style="danger"),
    )


def _way_back(change: Change) -> str:
    old = change.was.run
    if old.reason in STANDS_BY_ITSELF:
        return f"Never mind keeps revision {old.revision}, as it was approved; the run stays as it stands."
    return f"Never mind goes on with revision {old.revision}, as it was approved."


def _fallback(change: Change, complete: bool) -> str:
    now = change.now
    new = now.snapshot.revised(now.run.revision)
    level = f"{level_of(new, change.asked).value.capitalize()} risk" if new else ""
    until = f"until {date(now.run.deadline, now=now.now)}" if now.run.deadline else ""
    unread = "" if complete else "not shown in full here: open Show all"
    asked = f"{count(len(change.asked), 'step')} asked"
    named = f"{_state(change)}: {now.run.id} revision {now.run.revision}, the new rest"
    return fallback(named, level, asked, unread, f"{now.approvers} {until}".strip())
