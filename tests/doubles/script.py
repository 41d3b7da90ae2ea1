"""Conversations written down: one line is one thing that somebody does, or one thing that is waited for.

    requester in #ops: /plan read notes/today.md        says something; `/…` is a command, indented lines below belong to it
    requester in thread: status                         in the thread of the newest run
    approver presses Approve                            waits for the newest card with that button; also: `Stop on "R-1"`
    approver presses the old Approve                    on a card as it was seen before, whatever it shows now
    requester writes "too early" and sends              in the modal that is open
    member is shown "not cancelled"                     a modal with these words
    requester sees "Report"                             waits for words in the channel or its threads
    member is told "not approved"                       waits for one more private answer with these words
    wait succeeded                                      the newest run has that status
    look: while it waits                                the channel as it stands now goes into the transcript
    clock +31m · restart · a opens · f is mended · wait for gate a

Lines that begin with `policy:` or `setting NAME=VALUE` come first. `#` begins a comment.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from bot import runs
from tests.doubles import transcript
from tests.doubles.town import Message, Person
from tests.doubles.waiting import eventually

CHANNELS = ("#ops", "#general", "@pullcord", "#audit")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


def read(text: str) -> list[str]:
    """The lines of a script; indented ones belong to the line before."""
    lines: list[str] = []
    for line in text.splitlines():
        if line[:1].isspace() and lines:
            lines[-1] += "\n" + line.strip(" ")
        elif line.strip() and not line.startswith("#"):
            lines.append(line.rstrip())
    return lines


def setup(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """What to build the town with, and the lines that remain."""
    given: dict[str, str] = {}
    rest = []
    for line in lines:
        if line.startswith("policy:"):
            given["policy"] = line.removeprefix("policy:").strip("\n ") + "\n"
        elif line.startswith("setting "):
            name, _, value = line.removeprefix("setting ").partition("=")
            given[name] = value
        else:
            rest.append(line)
    return given, rest


class Play:
    """One conversation in a town, line by line. `looks` grows with every `look`."""

    def __init__(self, town: Any) -> None:
        self.town = town
        self.channel = "#ops"
        self.seen: dict[str, Message] = {}  # by label: the card on which it was last found
        self.told: dict[str, int] = {}
        self.looks: list[str] = []
        self.run_ids: dict[str, str] = {}  # R-1 → its id

    async def run(self, lines: list[str]) -> str:
        """Play all lines; the transcript."""
        for line in lines:
            try:
                await self._line(line)
            except AssertionError as fault:
                fault.add_note("\n".join([f"at: {line}", *await self._all()]))
                raise
        await self._settled()
        return "\n".join([*self.looks, *await self._all()]) + "\n"

    async def _line(self, line: str) -> None:
        for pattern, act in RULES:
            if found := re.fullmatch(pattern, line, re.DOTALL):
                await act(self, *found.groups())
                return
        raise AssertionError(f"not a line of a script: {line}")

    async def says(self, name: str, place: str, text: str) -> None:
        who = self.town.person(name)
        if place == "thread":
            run = await self._newest()
            await who.say(run.channel, text, run.thread_ts)
            return
        self.channel = place
        if text.startswith("/"):
            command, _, rest = text.partition(" ")
            await self._names()
            answer = await who.command(place, command, self._untidy(rest))
            assert answer["acked"], answer
        else:
            await who.say(place, text)

    async def presses(self, name: str, label: str, words: str | None) -> None:
        who: Person = self.town.person(name)
        await self._names()
        card = await who.card(self.channel, label, run=self._untidy(words or ""))
        self.seen[label] = card
        answer = await who.press(label, card, self.channel)
        assert answer["acked"], answer

    async def presses_old(self, name: str, label: str) -> None:
        answer = await self.town.person(name).press(label, self.seen[label], self.channel)
        assert answer["acked"], answer

    async def sees(self, name: str, words: str) -> None:
        await self.town.person(name).read(self.channel, self._untidy(words))

    async def sees_button(self, name: str, label: str) -> None:
        self.seen[label] = await self.town.person(name).card(self.channel, label)

    async def is_told(self, name: str, words: str) -> None:
        who = self.town.person(name)
        await who.told(self._untidy(words), after=self.told.get(name, 0))
        self.told[name] = len(await who.ephemerals())

    async def writes(self, name: str, words: str) -> None:
        who = self.town.person(name)
        view = await who.modal('"plain_text_input"')
        self.looks += [f"==== {name} fills in", *await self._tidied(transcript.card(view)), ""]
        inputs = [block for block in view["blocks"] if (block.get("element") or {}).get("type") == "plain_text_input"]
        values = {inputs[0]["block_id"]: {inputs[0]["element"]["action_id"]: {"type": "plain_text_input", "value": words}}}
        answer = await who.submit(view["id"], values)
        assert answer["ok"], answer

    async def is_shown(self, name: str, words: str) -> None:
        view = await self.town.person(name).modal(words)
        self.looks += [f"==== {name} is shown", *await self._tidied(transcript.card(view)), ""]

    async def waits(self, run: str | None, status: str) -> None:
        async def probe() -> bool:
            await self._names()
            found = await runs.listing(self.town.app.deps)
            one = next((each for each in found if run is None or each.id == self.run_ids.get(run)), None)
            return one is not None and one.status in status.split(" or ")

        await eventually(probe, f"{run or 'the newest run'} to be {status}")

    async def moves_clock(self, amount: str, unit: str) -> None:
        self.town.clock.advance(**{UNITS[unit]: int(amount)})

    async def restarts(self) -> None:
        await self.town.restart()

    async def opens(self, name: str) -> None:
        (self.town.folder / f"{name}.open").touch()

    async def mends(self, name: str) -> None:
        (self.town.folder / f"{name}.mended").touch()

    async def waits_for(self, kind: str, name: str) -> None:
        async def probe() -> bool:
            return name in self.town.lines(kind)

        await eventually(probe, f"{kind} {name}")

    async def look(self, title: str) -> None:
        await self._settled()
        self.looks += [f"==== {title}", *await self._channel(self.channel), ""]

    async def _newest(self) -> Any:
        async def probe() -> Any:
            found = await runs.listing(self.town.app.deps)
            return found[0] if found and found[0].thread_ts else None

        return await eventually(probe, "a run with a thread")

    async def _names(self) -> dict[str, str]:
        """What stands for what in the transcript: runs by the order in which they were opened, people and groups by their names."""
        members = (await self.town.people.call("GET", "/people"))["people"]
        handles = (await self.town.people.call("GET", "/workspace"))["usergroups"]
        found = sorted(await runs.listing(self.town.app.deps), key=lambda run: (run.created_at, run.id))
        self.run_ids = {f"R-{number}": run.id for number, run in enumerate(found, start=1)}
        people = {f"@{member['id']}": f"@{member['name']}" for member in members}
        groups = {f"@{group['id']}": f"@{group['handle']}" for group in handles}
        return {run_id: name for name, run_id in self.run_ids.items()} | dict(sorted((people | groups).items(), reverse=True))

    def _untidy(self, words: str) -> str:
        return re.sub(r"\bR-\d+\b", lambda found: self.run_ids.get(found[0], found[0]), words)

    async def _settled(self) -> None:
        """Until nothing is left to be posted or redrawn."""

        async def probe() -> bool:
            return not await self.town.app.presenter.is_behind()

        await eventually(probe, "every card to be true", within_s=30)

    async def _tidied(self, lines: list[str]) -> list[str]:
        names = await self._names()
        return [transcript.tidy(line, names).rstrip() for line in lines]

    async def _channel(self, channel: str) -> list[str]:
        reader = self.town.person("approver" if channel != "@pullcord" else "requester")
        shown = []
        for message in await reader.messages(channel):
            thread = await reader.messages(channel, message["ts"]) if message.get("reply_count") else [message]
            shown.append((message, thread[1:]))
        return await self._tidied(transcript.messages(shown))

    async def _all(self) -> list[str]:
        lines = ["==== in the end"]
        for channel in CHANNELS:
            said = await self._channel(channel)
            lines += ["", f"== {channel}", *said] if said else []
        for person in ("requester", "approver", "approver2", "member", "guest"):
            for private in await self.town.person(person).ephemerals():
                lines += ["", f"== only {person} sees", *await self._tidied(transcript.card(private))]
        return lines


Act = Callable[..., Awaitable[None]]
RULES: list[tuple[str, Act]] = [
    (r"(\w+) in (#\w+|@\w+|thread): (.*)", Play.says),
    (r"(\w+) presses the old (.+)", Play.presses_old),
    (r'(\w+) presses ([^"]+?)(?: on "(.+)")?', Play.presses),
    (r'(\w+) sees "(.+)"', Play.sees),
    (r"(\w+) sees the button (.+)", Play.sees_button),
    (r'(\w+) is told "(.+)"', Play.is_told),
    (r'(\w+) is shown "(.+)"', Play.is_shown),
    (r'(\w+) writes "(.+)" and sends', Play.writes),
    (r"wait (?:until (R-\d+) is )?((?:\w+)(?: or \w+)*)", Play.waits),
    (r"wait for (\w+) (\w+)", Play.waits_for),
    (r"clock \+(\d+)([smh])", Play.moves_clock),
    (r"restart()", lambda play, _: play.restarts()),
    (r"(\w+) opens", Play.opens),
    (r"(\w+) is mended", Play.mends),
    (r"look: (.+)", Play.look),
]
