"""Everything that can happen to the run, carried out by the product's own commands and activities.

What a move does depends on the facts alone, so each is carried out once for each state of the database and remembered: the walk over all
interleavings is then a walk over numbers. A person's move is tried wherever the table of moves does not rule it out beforehand.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

from bot import runs
from bot.activities.answering import answer
from bot.activities.drafting import draft
from bot.activities.redrafting import redraft
from bot.commands import confirming, controls, editing, freezing, intake, redirecting, review, silence
from bot.core.plan import Plan
from bot.core.replay import opened, replay
from bot.core.run import TRANSITIONS, Event, NotAllowed, Run, fits
from bot.core.snapshot import Snapshot
from bot.errors import Refused
from bot.store import audit, door
from bot.store import runs as rows
from tests.model.facts import Facts, Said, read, said_since
from tests.model.shapes import Shape
from tests.model.turns import Turn, ended, signature
from tests.model.world import ADMIN, NOW, PEOPLE, RUN, World

E = Event
Move = tuple[Any, ...]  # a verb and what it is about
ASKS, APPROVES, LOOKS_ON = PEOPLE["asks"], PEOPLE["approves"], PEOPLE["looks on"]


class Result(NamedTuple):
    """What came of a move: the state after it, what was put on record, which steps were started."""

    number: int
    to: int
    said: tuple[Said, ...] = ()
    begun: tuple[str, ...] = ()
    moved: bool = False  # is the run's version another one?
    held: str = ""  # the digest of the plan that the process had in its hands
    wrong: str = ""  # something that must not happen at all


class Offer(NamedTuple):
    """A move that a person may make, the axis that counts it, and the events that it may become."""

    move: Move
    axis: str
    events: tuple[Event, ...]


class Moves:
    """One run of one shape, in every state that the walk asks for."""

    def __init__(self, world: World, shape: Shape, *, turn: type[Turn] = Turn) -> None:
        self.world, self.shape, self.turn = world, shape, turn
        self.facts: list[Facts] = []
        self.plans: dict[str, tuple[Plan, dict[str, Any]]] = {}  # digest → plan, and the grades of its steps
        self.decisions: list[tuple[Turn, list[Any]] | Snapshot | None] = [None]  # what a process holds in its hands
        self.results = 0
        self._pages: list[tuple[tuple[bytes, ...], int, int]] = []  # with the last entry's number, and the version
        self._numbers: dict[Facts, int] = {}
        self._known: dict[tuple[int, Move], Result] = {}
        self._offers: dict[int, list[Offer]] = {}
        self._looks: dict[tuple[int, Move], int] = {}
        self._signatures: dict[Any, int] = {}

    async def begin(self) -> int:
        """The run as it waits for people."""
        ask = self.shape.ask
        deps = self.world.deps
        await intake.open_run(deps, ask=ask, who=ASKS, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts="1.1", event_key=None)
        await draft(deps, RUN)
        return self._here()[0]

    def _here(self) -> tuple[int, int, str]:
        """The number of the state that the database is in, the run's version, and what is wrong with it if it is a new one."""
        facts, seq, version = read(self.world.driver, RUN)
        number = self._numbers.get(facts)
        if number is not None:
            return number, version, ""
        number = self._numbers[facts] = len(self.facts)
        self.facts.append(facts)
        self._pages.append((self.world.kept(), seq, version))
        self._learn(facts)
        return number, version, self._record()

    def _learn(self, facts: Facts) -> None:
        """Keep the plans that are new."""
        for n, digest, _ in facts.revisions:
            if digest not in self.plans:
                plan, grades, _ = rows.revision(self.world.conn, RUN, n)
                self.plans[digest] = plan, grades
        self.world.conn.rollback()

    def _record(self) -> str:
        """P8: the entries give the state that is stored, and (looked at less often, for it takes its time) every chain holds."""
        conn = self.world.conn
        entries = audit.entries(conn, RUN)
        given_run, given_steps = replay(entries, opened(entries[0]))
        stored, steps = rows.get(conn, RUN), rows.steps(conn, RUN)
        broken = audit.verify(conn) if stored.is_final or len(self.facts) % 16 == 0 else []
        conn.rollback()
        if given_run != stored or any(given_steps.get(step.id, "pending") != step.status for step in steps):
            return "P8: the record does not give the state that is stored"
        return f"P8: {broken[0].says}" if broken else ""

    async def carry_out(self, at: int, move: Move) -> Result:
        """Make the move in that state; what is refused leads nowhere."""
        known = self._known.get((at, move))
        if known is None:
            known = self._known[at, move] = await self._carry_out(at, move)
        return known

    async def _carry_out(self, at: int, move: Move) -> Result:
        pages, seq, version = self._pages[at]
        self.world.restore(pages)
        self.results += 1
        begun, wrong = await self._try(at, move)
        self.world.store.seen.clear()
        to, now, broken = self._here()
        said = said_since(self.world.driver, RUN, seq)
        holds = self.decisions[move[1]] if move[0] == "put through" else None
        held = holds[0].digest if isinstance(holds, tuple) else ""
        return Result(self.results, to, said, tuple(begun), now != version, held, wrong or broken)

    async def _try(self, at: int, move: Move) -> tuple[list[str], str]:
        verb, *about = move
        by_person = verb in PEOPLES
        try:
            done = await DOES[verb](self, at, *about)
            return (done if verb == "put through" else []), ""
        except (Refused, editing.InvalidPlan) as refused:
            return [], "" if by_person else f"{verb} raised {refused!r}"
        except NotAllowed as fault:
            return [], f"{verb} raised NotAllowed: {fault}"

    async def look(self, at: int, move: Move) -> int:
        """What the process decides when it looks now, as the number of a decision; 0: nothing to do."""
        known = self._looks.get((at, move))
        if known is None:
            self.world.restore(self._pages[at][0])
            known = self._looks[at, move] = await self._look(at, move)
        return known

    async def _look(self, at: int, move: Move) -> int:
        snapshot = await runs.snapshot(self.world.deps, RUN, entries=True)
        if move[0] == "plan the rest":
            facts = self.facts[at]
            statuses = tuple((step.id, step.status) for step in facts.steps)
            return self._decision(("rest", facts.record, facts.revision, facts.proposed, statuses), snapshot)
        turn = self.turn(self.world.deps, snapshot, ended(snapshot, move[1]))
        changes = await turn.look()
        return 0 if changes is None else self._decision(signature(turn, changes), (turn, changes))

    def _decision(self, signed: Any, held: Any) -> int:
        number = self._signatures.setdefault(signed, len(self.decisions))
        if number == len(self.decisions):
            self.decisions.append(held)
        return number

    def outcomes_of(self, decision: int) -> frozenset[str]:
        """The steps whose end this decision will write."""
        held = self.decisions[decision]
        return frozenset(each.step.id for each in held[0].unwritten) if isinstance(held, tuple) else frozenset()

    def version(self, at: int) -> int:
        """Of the run, in that state as it was first come to."""
        return self._pages[at][2]

    def says(self, decision: int) -> tuple[str, ...]:
        """What the decision is, for a trace."""
        held = self.decisions[decision]
        if not isinstance(held, tuple):
            return ("the new rest",)
        turn, changes = held
        ends = (f"{each.step.id} {each.event}" for each in turn.unwritten)
        return (*ends, *(f"{change.event} {change.step.id if change.step else ''}".strip() for change in changes))

    def offers(self, at: int) -> list[Offer]:
        """What people, and the clock, may try in that state."""
        known = self._offers.get(at)
        if known is None:
            run = self.facts[at].run
            could = _offers(self.facts[at], self.shape)
            known = self._offers[at] = [each for each in could if not each.events or any(_may(run, event) for event in each.events)]
        return known


def _may(run: Run, event: Event) -> bool:
    return (run.status, event) in TRANSITIONS and fits(run, event)


def _offers(facts: Facts, shape: Shape) -> Iterator[Offer]:
    yield Offer(("pause",), "pause", (E.PAUSE_ASKED,))
    yield Offer(("resume",), "", (E.RESUMED,))
    yield Offer(("stop",), "", (E.STOP_ASKED, E.CANCELLED))
    yield Offer(("never mind",), "", (E.WITHDRAWN,))
    if facts.waits:
        yield Offer(("expire",), "", (E.EXPIRED,))
    for n, _, _ in facts.revisions:
        yield Offer(("approve", n), "", (E.APPROVED, E.REDIRECTED))
    for step, filling in facts.cards:
        yield Offer(("confirm", step, filling), "", (E.CONFIRMED,))
        yield Offer(("refuse", step, filling), "", (E.CONFIRM_REFUSED,))
        yield Offer(("other values", step, filling), "edit", (E.CONFIRMED,))
    for step in (each.id for each in facts.steps):
        yield Offer(("continue", step), "", (E.CONTINUED,))
        yield Offer(("retry", step), "", (E.RETRIED,))
        yield Offer(("skip", step), "", (E.SKIPPED_BY_PERSON,))
        yield Offer(("it happened", step), "", (E.HAPPENED,))
        yield Offer(("it did not happen", step), "", (E.NOT_HAPPENED,))
        yield Offer(("breakpoint", step), "breakpoint", (E.BREAKPOINT_SET,))
    for text in shape.replies:
        yield Offer(("reply", text), "redirect", (E.REDIRECT_ASKED,))
    if facts.status in ("in_review", "paused"):
        yield Offer(("edit", facts.proposed or facts.revision), "edit", (E.REVISED, E.REDIRECT_ASKED))
    yield Offer(("thaw",), "", ()) if facts.frozen else Offer(("freeze",), "freeze", ())


async def _edit(moves: Moves, at: int, base: int) -> None:
    """The one argument that the shape names gets another value; a step that is not there any more is not edited."""
    plan = moves.plans[next(digest for n, digest, _ in moves.facts[at].revisions if n == base)][0]
    name = moves.shape.edits
    steps = tuple(step.model_copy(update={"args": {"name": "edited"}}) if step.id == name else step for step in plan.steps)
    await editing.save(moves.world.deps, RUN, base=base, plan=plan.model_copy(update={"steps": steps}), who=ASKS)


async def _put_through(moves: Moves, at: int, decision: int, fresh: bool) -> list[str]:
    """A decision that was made a while ago goes through the door now. `fresh`: nothing has moved the run since."""
    held = moves.decisions[decision]
    if isinstance(held, tuple):
        version = moves.version(at)
        return await held[0].put_through(held[1], version=version if fresh else version - 1)
    moves.world.store.seen.append(held)
    await redraft(moves.world.deps, RUN)
    return []


async def _start(moves: Moves, at: int) -> None:
    try:
        await moves.world.store.write(lambda conn: door.change(conn, RUN, Event.STARTED, actor="pullcord", at=NOW))
    except (NotAllowed, door.Frozen):
        return


async def _recover(moves: Moves, at: int) -> None:
    snapshot = await runs.snapshot(moves.world.deps, RUN, entries=True)
    await moves.turn(moves.world.deps, snapshot).recover()


def _click(command: Callable[..., Awaitable[Any]], **more: Any) -> Callable[..., Awaitable[Any]]:
    async def click(moves: Moves, at: int, *about: Any) -> None:
        await command(moves.world.deps, RUN, *about, **more)

    return click


async def _approve(moves: Moves, at: int, n: int) -> None:
    await review.approve(moves.world.deps, RUN, n, who=APPROVES, received_at=NOW, opened_all=True)


async def _confirm(moves: Moves, at: int, step: str, filling: str) -> None:
    await confirming.confirm(moves.world.deps, RUN, step, digest8=filling, who=APPROVES, opened_all=True)


async def _refuse(moves: Moves, at: int, step: str, filling: str) -> None:
    await confirming.refuse(moves.world.deps, RUN, step, digest8=filling, who=APPROVES, reason="no")


async def _other_values(moves: Moves, at: int, step: str, filling: str) -> None:
    await editing.change_arguments(moves.world.deps, RUN, step, digest8=filling, args={"name": "other"}, who=ASKS)


async def _expire(moves: Moves, at: int) -> None:
    await silence.expire(moves.world.later)


PEOPLES: dict[str, Callable[..., Awaitable[Any]]] = {
    "pause": _click(controls.pause, who=LOOKS_ON),
    "resume": _click(controls.resume, who=ASKS),
    "stop": _click(controls.stop, who=ASKS),
    "never mind": _click(redirecting.withdraw, who=ASKS),
    "expire": _expire,
    "approve": _approve,
    "confirm": _confirm,
    "refuse": _refuse,
    "other values": _other_values,
    "continue": _click(controls.proceed, who=ASKS),
    "retry": _click(controls.retry, who=ASKS),
    "skip": _click(controls.skip, who=ASKS),
    "it happened": _click(controls.happened, who=APPROVES, note="seen"),
    "it did not happen": _click(controls.not_happened, who=APPROVES),
    "breakpoint": _click(controls.set_breakpoint, who=LOOKS_ON),
    "reply": lambda moves, at, text: redirecting.redirect(moves.world.deps, RUN, text=text, who=ASKS),
    "edit": _edit,
    "freeze": lambda moves, at: freezing.freeze(moves.world.deps, who=ADMIN, why="drill"),
    "thaw": lambda moves, at: freezing.thaw(moves.world.deps, who=ADMIN),
}
DOES: dict[str, Callable[..., Awaitable[Any]]] = {
    **PEOPLES,
    "start": _start,
    "recover": _recover,
    "put through": _put_through,
    "answer": lambda moves, at: answer(moves.world.deps, RUN),
    "hold for a restart": lambda moves, at: freezing.hold_for_restart(moves.world.deps),
    "lift": lambda moves, at: freezing.lift_restart(moves.world.deps),
}
