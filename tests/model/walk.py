"""The walk: from the run in review through every order in which things can happen, breadth first, so that a trace is as short as can be.

A place of the walk is the state of the database, what each of two processes has in its hands (a decision that it has not written yet, calls
that are out), what an onlooker remembers, and how much of each thing may still happen. A process may die at any moment: its decision is
gone and its calls have no owner. At the end the graph says whether everything ends (P10).
"""

import time
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from bot.core.catalogue import Effect
from tests.model.facts import Facts
from tests.model.moves import Move, Moves, Result
from tests.model.promises import FINAL, Memory, judge, wrong_state
from tests.model.shapes import AXES, Shape
from tests.model.turns import Outcomes, Turn
from tests.model.world import World

ACTIVE = frozenset({"running", "pausing", "stopping"})
ENDING = frozenset({"stop", "expire"})  # what people, or silence, can do to end a run
RESTART, CRASH, TROUBLE = (AXES.index(axis) for axis in ("restart", "crash", "trouble"))


class Process(NamedTuple):
    """What one process has in its hands."""

    decision: int = 0
    calls: frozenset[str] = frozenset()
    fresh: bool = True  # nothing has moved the run since it decided


class Place(NamedTuple):
    """Where the walk is."""

    state: int
    hands: tuple[Process, Process]  # in order: which of the two is which makes no difference
    memory: int
    left: tuple[int, ...]


Step = tuple[Move, Place, str]  # a move, where it leads, and what it breaks
IDLE = Process()


@dataclass
class Report:
    """What a walk saw."""

    shape: str
    places: int = 0
    moves: int = 0
    states: int = 0
    carried_out: int = 0
    seconds: float = 0.0
    broken: dict[str, list[str]] = field(default_factory=dict)  # what is wrong → the shortest way to it

    def line(self) -> str:
        """`chain (crash 1, pause 1): 12,345 states, 67,890 transitions …`"""
        inner = f"{self.states:,} of the database, {self.carried_out:,} moves carried out"
        return f"{self.shape}: {self.places:,} states, {self.moves:,} transitions ({inner}) in {self.seconds:.1f} s"

    def traces(self) -> str:
        """What is broken, and how to get there."""
        return "\n".join("\n  ".join((f"{words}, after", *way)) for words, way in self.broken.items())


class Walk:
    """One walk over one shape."""

    def __init__(self, world: World, shape: Shape, *, turn: type[Turn] = Turn) -> None:
        self.shape, self.moves = shape, Moves(world, shape, turn=turn)
        self.effects = world.deps.tools.catalogue
        self.numbers: dict[Place, int] = {}
        self.places: list[Place] = []
        self.came: list[tuple[int, Move]] = []  # from where, and by what
        self.edges: dict[str, tuple[array[int], array[int]]] = {kind: (array("L"), array("L")) for kind in ("itself", "ending")}
        self.memories: dict[Memory, int] = {}
        self.remembered: list[Memory] = []
        self.judged: dict[tuple[int, int, int], tuple[int, str]] = {}
        self.report = Report(str(shape))

    async def run(self, *, until_broken: bool = False) -> Report:
        """Go everywhere; `until_broken`: only up to the first broken promise."""
        began = time.process_time()
        memory = self._number_of(Memory())
        first = Place(await self.moves.begin(), (IDLE, IDLE), memory, self.shape.budget)
        self._arrive(first, -1, ("begin",))
        waiting = deque([0])
        while waiting and not (until_broken and self.report.broken):
            here = waiting.popleft()
            for move, there, broken in await self._following(self.places[here]):
                known = len(self.places)
                number = self._arrive(there, here, move)
                if number == known:
                    waiting.append(number)
                self._count(here, number, move)
                if broken:
                    self.report.broken.setdefault(broken, self._way(here, move))
        if not waiting:
            self._everything_ends()
        self.report.places, self.report.states, self.report.carried_out = len(self.places), len(self.moves.facts), self.moves.results
        self.report.seconds = time.process_time() - began
        return self.report

    def _arrive(self, place: Place, here: int, move: Move) -> int:
        number = self.numbers.setdefault(place, len(self.places))
        if number == len(self.places):
            self.places.append(place)
            self.came.append((here, move))
        return number

    def _number_of(self, memory: Memory) -> int:
        number = self.memories.setdefault(memory, len(self.memories))
        if number == len(self.remembered):
            self.remembered.append(memory)
        return number

    def _count(self, here: int, there: int, move: Move) -> None:
        self.report.moves += 1
        kind = "ending" if move[0] in ENDING else "itself" if isinstance(move[0], int) else ""
        if kind:
            self.edges[kind][0].append(here)
            self.edges[kind][1].append(there)

    async def _following(self, place: Place) -> list[Step]:
        """Everything that can happen next."""
        found: list[Step] = []
        for offer in self.moves.offers(place.state):
            left = _less(place.left, AXES.index(offer.axis)) if offer.axis else place.left
            if left is not None:
                result = await self.moves.carry_out(place.state, offer.move)
                found += self._stepped(place._replace(left=left), offer.move, result, offer.move)
        for which in self._who_acts(place.hands):
            found += await self._of_process(place, which)
        if (left := _less(place.left, RESTART)) is not None and not any(hands.decision for hands in place.hands):
            move = ("hold for a restart",)
            result = await self.moves.carry_out(place.state, move)
            found += self._stepped(place._replace(left=left, hands=(IDLE, IDLE)), move, result, move)
        return found

    def _who_acts(self, hands: tuple[Process, Process]) -> Sequence[int]:
        """Both processes; only one where they are alike; only the one that there is."""
        if self.shape.processes == 1:
            return [1 if hands[0] == IDLE else 0]
        return [0, 1] if hands[0] != hands[1] else [0]

    def _stepped(self, place: Place, move: Move, result: Result, label: Move) -> list[Step]:
        """The place after the move, judged; nothing if the move was refused."""
        if not result.moved and result.to == place.state and not result.wrong and move[0] not in ("put through", "hold for a restart"):
            return []
        known = place.memory, place.state, result.number
        judged = self.judged.get(known)
        if judged is None:
            memory, broken = judge(self.moves, self.remembered[place.memory], place.state, result)
            judged = self.judged[known] = self._number_of(memory), broken or wrong_state(self.moves.facts[result.to])
        hands = tuple(each._replace(fresh=False) if each.decision else each for each in place.hands) if result.moved else place.hands
        return [(label, place._replace(state=result.to, memory=judged[0], hands=hands), judged[1])]

    async def _of_process(self, place: Place, which: int) -> list[Step]:
        """What one of the processes may do next: put through what it decided, look again, or die."""
        mine = place.hands[which]
        found: list[Step] = []
        if mine.decision:
            result = await self.moves.carry_out(place.state, ("put through", mine.decision, mine.fresh))
            calls = (mine.calls - self.moves.outcomes_of(mine.decision)) | set(result.begun)
            there = _with(place, which, Process(0, calls))
            found += self._stepped(there, ("put through",), result, (which, "puts through", *self.moves.says(mine.decision)))
        else:
            found += await self._looks(place, which)
        if (left := _less(place.left, CRASH)) is not None and mine != IDLE:
            found.append((("crash", which), _with(place, which, IDLE)._replace(left=left), ""))
        return found

    async def _looks(self, place: Place, which: int) -> list[Step]:
        """What a process with free hands does, as its supervisor would have it."""
        mine, other = place.hands[which], place.hands[1 - which]
        facts = self.moves.facts[place.state]
        move: Move | None = None
        if facts.reason == "shutdown":
            move = ("lift",)
        elif facts.status == "queued":
            move = ("start",)
        elif facts.status == "answering":
            move = ("answer",)
        elif facts.status in ACTIVE and facts.running - mine.calls - other.calls and not mine.calls and not other.calls:
            move = ("recover",)
        if move is not None:
            return self._stepped(place, move, await self.moves.carry_out(place.state, move), (which, *move))
        if facts.status == "paused" and facts.redirect == "planning":
            return await self._decided(place, which, ("plan the rest",), place.left)
        found: list[Step] = []
        if facts.status in ACTIVE:
            for outcomes, cost in self._outcomes(facts, mine.calls):
                if place.left[TROUBLE] >= cost:
                    left = _less(place.left, TROUBLE, by=cost) or place.left
                    found += await self._decided(place, which, ("look", outcomes), left)
        return found

    async def _decided(self, place: Place, which: int, move: Move, left: tuple[int, ...]) -> list[Step]:
        decision = await self.moves.look(place.state, move)
        if not decision:
            return []
        there = _with(place, which, Process(decision, place.hands[which].calls))._replace(left=left)
        return [((which, *move), there, "")]

    def _outcomes(self, facts: Facts, calls: frozenset[str]) -> Iterator[tuple[Outcomes, int]]:
        """Every way in which these calls may have ended by now, or not, and how much trouble that is."""
        stopping = facts.status == "stopping"
        ways: list[list[tuple[str, str, int]]] = []
        for name in sorted(calls):
            row = facts.step(name)
            effect = row is not None and self.effects[row.tool].effect is not Effect.READ
            could = [(name, "", 0), (name, "ok", 0), (name, "fails", 1)]
            could += [(name, "in doubt", 0 if stopping else 1)] if effect else []
            ways.append(could + ([(name, "cancelled", 0)] if stopping else []))
        for chosen in product(*ways):
            yield tuple((name, outcome) for name, outcome, _ in chosen if outcome), sum(cost for _, _, cost in chosen)

    def _way(self, here: int, move: Move) -> list[str]:
        """The moves from the beginning to here, and this one."""
        way = [move]
        while here > 0:
            here, earlier = self.came[here]
            way.append(earlier)
        return [_worded(each) for each in reversed(way)]

    def _everything_ends(self) -> None:
        """P10: by itself each run comes to an end or stands for people; with a Stop, or with time, each comes to an end."""
        facts = self.moves.facts
        stands = [n for n, place in enumerate(self.places) if _waits(facts[place.state])]
        self._must_reach(stands, ("itself",), "P10: it goes on for ever, or is stuck, and nobody is asked")
        ends = [n for n, place in enumerate(self.places) if facts[place.state].status in FINAL]
        self._must_reach(ends, ("itself", "ending"), "P10: nothing that people or silence do ends it")

    def _must_reach(self, goals: Sequence[int], kinds: tuple[str, ...], words: str) -> None:
        reached = bytearray(len(self.places))
        towards: list[list[int]] = [[] for _ in self.places]
        for kind in kinds:
            for here, there in zip(*self.edges[kind], strict=True):
                towards[there].append(here)
        waiting = list(goals)
        for goal in goals:
            reached[goal] = 1
        while waiting:
            for here in towards[waiting.pop()]:
                if not reached[here]:
                    reached[here] = 1
                    waiting.append(here)
        lost = reached.find(0)
        if lost >= 0:
            self.report.broken.setdefault(words, self._way(*self.came[lost]))


def _waits(facts: Facts) -> bool:
    """Is it over, or is it people's turn?"""
    if facts.status in FINAL or facts.status in ("in_review", "planning"):
        return True
    if facts.status == "paused":
        return facts.redirect != "planning" and facts.reason != "shutdown"
    return facts.status == "queued" and facts.frozen


def _less(left: tuple[int, ...], axis: int, *, by: int = 1) -> tuple[int, ...] | None:
    """What is left of each axis after that; None if there is not enough."""
    return (*left[:axis], left[axis] - by, *left[axis + 1 :]) if left[axis] >= by else None


def _with(place: Place, which: int, hands: Process) -> Place:
    other = place.hands[1 - which]
    both = sorted((hands, other), key=lambda each: (each.decision, each.fresh, sorted(each.calls)))
    return place._replace(hands=(both[0], both[1]))


def _worded(move: Move) -> str:
    who, *about = move
    return " ".join(str(word) for word in (("a process:", *about) if isinstance(who, int) else move))
