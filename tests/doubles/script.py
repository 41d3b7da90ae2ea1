"""Conversations written down: one line is one thing that somebody does, or one thing that is waited for.

    requester in #ops: /plan read notes/today.md        says something; `/…` is a command, indented lines below belong to it
    requester in thread: status                         in the thread of the newest run
    approver presses Approve                            waits for the newest card with that button; also: `Stop on "R-1"`
    approver presses the old Approve                    on a card as it was seen before, whatever it shows now
    requester writes "too early" and sends              in the modal that is open
    member is shown "not cancelled"                     a modal with these words
    requester sees "Report"                             waits for words in the channel or its threads; also: `… 2 times`
    member is told "not approved"                       waits for one more private answer with these words
    member is shown nothing                             ... and no modal is open
    approver picks remove beside brief                  the menu beside a step: change, break, up, down, remove
    approver presses As text in the form                a button of the modal on top
    approver sends                                      the modal on top; indented lines `field=value` below are entered first
    approver sends in vain                              the same, and what is wrong stands at the fields
    approver closes the form
    approver pauses before 2                            the menu *Pause before…* of a card
    requester changes "skip a" to "skip b"              a message of theirs; also: requester deletes "skip a"
    wait succeeded                                      the newest run has that status
    wait paused for confirm                             ... and stands for that; also: `for redirect review`
    wait until all is shown                             every card stands and is true, and everybody who acted has their answer
    look: while it waits                                the same, and the channel as it stands then goes into the transcript
    clock +31m · clock stands · restart · shut down · start again · a opens · f is mended · wait for gate a
    the policy is now:                                  the indented lines below become the policy file; nobody reads it by itself
    at once:                                            the indented lines below, all at the same time

Lines that begin with `policy:` or `setting NAME=VALUE` come first. `#` begins a comment.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from bot import runs
from bot.core.run import Run
from handlers import errors
from tests.doubles import transcript
from tests.doubles.town import Message, Person, button_of, elements, text_of
from tests.doubles.waiting import eventually

CHANNELS = ("#ops", "#general", "@pullcord", "#audit")
FIELD = re.compile(r"([a-z_]+(?:\.\w+)*)=")
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


def stands_for(run: Run) -> set[str]:
    """The words for what a run stands for."""
    return {run.reason or "", f"redirect {run.redirect}" if run.redirect else ""}


def entry(element: dict[str, Any], text: str, channels: dict[str, str]) -> Any:
    """What a person enters into that element, as Slack has it: an option by its label, a channel by its name."""
    values = {option["text"]["text"]: option["value"] for option in element.get("options") or []}
    if element["type"] in ("checkboxes", "multi_static_select"):
        chosen = [part.strip() for part in text.split(",") if part.strip()]
        return [values.get(each) or next(value for label, value in values.items() if label.startswith(each)) for each in chosen]
    return values.get(text, channels.get(text, text) if element["type"] == "conversations_select" else text)


class Play:
    """One conversation in a town, line by line. `looks` grows with every `look`."""

    def __init__(self, town: Any) -> None:
        self.town = town
        self.channel = "#ops"
        self.seen: dict[str, Message] = {}  # by label: the card on which it was last found
        self.told: dict[str, int] = {}
        self.looks: list[str] = []
        self.run_ids: dict[str, str] = {}  # R-1 → its id
        self.is_down = False
        self.names: dict[str, str] = {}

    async def run(self, lines: list[str]) -> str:
        """Play all lines; the transcript."""
        for line in lines:
            try:
                await self._line(line)
            except AssertionError as fault:
                fault.add_note("\n".join([f"at: {line}", *await self._all()]))
                raise
        await self.settled()
        return "\n".join([*self.looks, *await self._all()]) + "\n"

    async def _line(self, line: str) -> None:
        for pattern, act in RULES:
            if found := re.fullmatch(pattern, line, re.DOTALL):
                await act(self, *found.groups())
                return
        raise AssertionError(f"not a line of a script: {line}")

    async def says(self, name: str, place: str, text: str) -> None:
        who = self.town.person(name)
        if place.startswith("thread"):
            run = await self._run_of(place.removeprefix("thread").removeprefix(" of "))
            await who.say(run.channel, text, run.thread_ts)
            return
        self.channel = place
        if text.startswith("/"):
            command, _, rest = text.partition(" ")
            answer = await who.command(place, command, await self._untidy(rest))
            assert answer["acked"], answer
        else:
            await who.say(place, text)

    async def presses(self, name: str, label: str, words: str | None) -> None:
        who: Person = self.town.person(name)
        card = await who.card(self.channel, label, run=await self._untidy(words or ""))
        self.seen[label] = card
        answer = await who.press(label, card, self.channel)
        assert answer["acked"], answer

    async def presses_old(self, name: str, label: str) -> None:
        answer = await self.town.person(name).press(label, self.seen[label], self.channel)
        assert answer["acked"], answer

    async def sees(self, name: str, words: str) -> None:
        await self.town.person(name).read(self.channel, await self._untidy(words))

    async def sees_times(self, name: str, words: str, times: str) -> None:
        async def probe() -> bool:
            said = await self.town.person(name).everything(self.channel)
            return sum(words in text_of(message) for message in said) >= int(times)

        await eventually(probe, f"{times} messages with {words!r}")

    async def sees_button(self, name: str, label: str) -> None:
        self.seen[label] = await self.town.person(name).card(self.channel, label)

    async def is_told(self, name: str, words: str) -> None:
        who = self.town.person(name)
        await who.told(await self._untidy(words), after=self.told.get(name, 0))
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
        view = await self.town.person(name).modal(await self._untidy(words))
        self.looks += [f"==== {name} is shown", *await self._tidied(transcript.card(view)), ""]

    async def is_shown_nothing(self, name: str) -> None:
        async def probe() -> bool:
            return not await self.town.person(name).views()

        await eventually(probe, f"no modal to be open for {name}")

    async def picks(self, name: str, move: str, step: str) -> None:
        view = await self._top(name)
        menus = [(block["block_id"], part) for block in view["blocks"] for part in elements(block) if part.get("type") == "overflow"]
        options = [(block_id, each["value"]) for block_id, menu in menus for each in menu["options"]]
        found = [(block_id, value) for block_id, value in options if value.endswith(f".{step}.{move}")]
        assert found, f"no {move} beside {step}: {options}"
        block_id, value = found[0]
        await self._act(name, view, {"block_id": block_id, "action_id": "edit.step", "value": value})

    async def presses_in_form(self, name: str, label: str) -> None:
        view = await self._top(name)
        block_id, button = button_of(view, label)
        await self._act(name, view, {"block_id": block_id, "action_id": button["action_id"], "value": button.get("value")})

    async def sends(self, name: str, vain: str, fields: str) -> None:
        view = await self._top(name)
        values = await self._entered(name, view, fields)
        answer = await self.town.person(name).submit(view["id"], values)
        wrong = answer.get("errors") or {}
        lines = [f"==== {name} sends: {view['title']['text']}", *fields.strip("\n").split("\n")]
        self.looks += [*await self._tidied([*lines, *(f"! {field}: {says}" for field, says in wrong.items())]), ""]
        assert bool(wrong) == bool(vain), answer

    async def closes(self, name: str) -> None:
        view = await self._top(name)
        answer = await self.town.people.call("POST", f"/people/{name}/views/{view['id']}/close", {})
        assert answer["ok"], answer

    async def pauses_before(self, name: str, number: str) -> None:
        who: Person = self.town.person(name)

        async def probe() -> tuple[Message, str, Message, str] | None:
            for message in reversed(await who.everything(self.channel)):
                for block in message.get("blocks") or []:
                    for part in elements(block):
                        for each in part.get("options") or []:
                            if part.get("action_id", "").endswith(".breakpoint") and each["text"]["text"].startswith(f"{number} "):
                                return message, block["block_id"], part, each["value"]
            return None

        message, block_id, menu, value = await eventually(probe, f"a card with Pause before {number}")
        body = {"channel": self.channel, "message_ts": message["ts"], "action_id": menu["action_id"], "block_id": block_id, "value": value}
        answer = await self.town.people.call("POST", f"/people/{name}/actions", body)
        assert answer["acked"], answer

    async def changes(self, name: str, old: str, new: str) -> None:
        answer = await self.town.person(name).edit(self.channel, await self._said(name, old), new)
        assert answer["ok"], answer

    async def deletes(self, name: str, old: str) -> None:
        answer = await self.town.person(name).delete(self.channel, await self._said(name, old))
        assert answer["ok"], answer

    async def at_once(self, lines: str) -> None:
        await asyncio.gather(*(self._line(line) for line in lines.strip("\n").split("\n")))

    async def waits(self, run: str | None, status: str, reason: str | None) -> None:
        async def probe() -> bool:
            await self._names()
            found = await runs.listing(self.town.app.deps)
            one = next((each for each in found if run is None or each.id == self.run_ids.get(run)), None)
            return one is not None and one.status in status.split(" or ") and (reason is None or reason in stands_for(one))

        await eventually(probe, f"{run or 'the newest run'} to be {status}{f' for {reason}' if reason else ''}")

    async def stops_clock(self) -> None:
        self.town.clock.stand()

    async def changes_policy(self, text: str) -> None:
        (self.town.folder / "policy.yml").write_text(text.strip("\n") + "\n")

    async def moves_clock(self, amount: str, unit: str) -> None:
        self.town.clock.advance(**{UNITS[unit]: int(amount)})

    async def restarts(self) -> None:
        await self.town.restart()

    async def shuts_down(self) -> None:
        await self._names()
        await self.town.app.stop()
        self.is_down = True

    async def starts_again(self) -> None:
        await self.town.start()
        self.is_down = False

    async def opens(self, name: str) -> None:
        (self.town.folder / f"{name}.open").touch()

    async def mends(self, name: str) -> None:
        (self.town.folder / f"{name}.mended").touch()

    async def waits_for(self, kind: str, name: str) -> None:
        async def probe() -> bool:
            return name in self.town.lines(kind)

        await eventually(probe, f"{kind} {name}")

    async def look(self, title: str) -> None:
        await self.settled()
        self.looks += [f"==== {title}", *await self._channel(self.channel), ""]

    async def _run_of(self, name: str) -> Any:
        async def probe() -> Any:
            await self._names()
            found = await runs.listing(self.town.app.deps)
            one = next((run for run in found if not name or run.id == self.run_ids.get(name)), None)
            return one if one and one.thread_ts else None

        return await eventually(probe, "a run with a thread")

    async def _top(self, name: str) -> Message:
        return await self.town.person(name).modal()

    async def _act(self, name: str, view: Message, body: dict[str, Any]) -> None:
        answer = await self.town.people.call("POST", f"/people/{name}/views/{view['id']}/actions", body)
        assert answer["acked"], answer

    async def _said(self, name: str, words: str) -> str:
        own = [m for m in await self.town.person(name).everything(self.channel) if m.get("text") == words and not m.get("bot_id")]
        assert own, f"{name} said no {words!r}"
        return str(own[-1]["ts"])

    async def _entered(self, name: str, view: Message, fields: str) -> dict[str, Any]:
        """`state.values` with the lines `field=value`; a value may go on in lines of its own. Options and channels go by their names."""
        given: dict[str, str] = {}
        for line in fields.strip("\n").split("\n") if fields else []:
            if begins := FIELD.match(line):
                field = begins[1]
                given[field] = line[begins.end() :]
            else:
                given[field] += "\n" + line
        channels = (await self.town.people.call("GET", f"/people/{name}/channels"))["channels"]
        names = {f"#{channel['name']}": channel["id"] for channel in channels if channel.get("name")}
        values: dict[str, Any] = {}
        for field, text in given.items():
            element = next(block["element"] for block in view["blocks"] if block.get("block_id") == field)
            values[field] = {element["action_id"]: {"value": entry(element, text, names)}}
        return values

    async def _names(self) -> dict[str, str]:
        """What stands for what in the transcript: runs by the order in which they were opened, people and groups by their names."""
        if self.is_down:
            return self.names
        members = (await self.town.people.call("GET", "/people"))["people"]
        handles = (await self.town.people.call("GET", "/workspace"))["usergroups"]
        found = sorted(await runs.listing(self.town.app.deps), key=lambda run: (run.created_at, run.id))
        self.run_ids = {f"R-{number}": run.id for number, run in enumerate(found, start=1)}
        people = {f"@{member['id']}": f"@{member['name']}" for member in members}
        groups = {f"@{group['id']}": f"@{group['handle']}" for group in handles}
        channels = {
            each["id"]: f"#{each['name']}"
            for each in (await self.town.people.call("GET", "/people/approver/channels"))["channels"]
            if each.get("name")
        }
        self.names = {run_id: name for name, run_id in self.run_ids.items()} | dict(
            sorted((people | groups | channels).items(), reverse=True)
        )
        return self.names

    async def _untidy(self, words: str) -> str:
        """The words with the ids of the runs that they name, once all of these are there."""
        named = re.findall(r"\bR-\d+\b", words)

        async def probe() -> bool:
            await self._names()
            return all(name in self.run_ids for name in named)

        await eventually(probe, f"{' and '.join(named)} to be opened")
        return re.sub(r"\bR-\d+\b", lambda found: self.run_ids[found[0]], words)

    async def settled(self) -> None:
        """Until nobody who acted waits for an answer, and nothing is left to be posted or redrawn."""
        if self.is_down:
            return

        async def probe() -> bool:
            answering = any(getattr(task.get_coro(), "__name__", "") == errors.guarded.__name__ for task in asyncio.all_tasks())
            return not answering and not await self.town.app.presenter.is_behind()

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
    (r"at once:(.*)", Play.at_once),
    (r"the policy is now:(.*)", Play.changes_policy),
    (r"(\w+) in (#\w+|@\w+|thread(?: of R-\d+)?): (.*)", Play.says),
    (r"(\w+) presses the old (.+)", Play.presses_old),
    (r"(\w+) presses (.+) in the form", Play.presses_in_form),
    (r'(\w+) presses ([^"]+?)(?: on "(.+)")?', Play.presses),
    (r'(\w+) sees "(.+)" (\d+) times', Play.sees_times),
    (r'(\w+) sees "(.+)"', Play.sees),
    (r"(\w+) sees the button (.+)", Play.sees_button),
    (r'(\w+) is told "(.+)"', Play.is_told),
    (r'(\w+) is shown "(.+)"', Play.is_shown),
    (r"(\w+) is shown nothing", Play.is_shown_nothing),
    (r'(\w+) writes "(.+)" and sends', Play.writes),
    (r"(\w+) picks (\w+) beside ([\w-]+)", Play.picks),
    (r"(\w+) sends( in vain)?(.*)", Play.sends),
    (r"(\w+) closes the form", Play.closes),
    (r"(\w+) pauses before (\d+)", Play.pauses_before),
    (r'(\w+) changes "(.+)" to "(.+)"', Play.changes),
    (r'(\w+) deletes "(.+)"', Play.deletes),
    (r"wait for (\w+) (\w+)", Play.waits_for),
    (r"wait until all is shown()", lambda play, _: play.settled()),
    (r"wait (?:until (R-\d+) is )?((?:\w+)(?: or \w+)*)(?: for ([\w ]+))?", Play.waits),
    (r"clock \+(\d+)([smh])", Play.moves_clock),
    (r"clock stands", Play.stops_clock),
    (r"restart()", lambda play, _: play.restarts()),
    (r"shut down()", lambda play, _: play.shuts_down()),
    (r"start again()", lambda play, _: play.starts_again()),
    (r"(\w+) opens", Play.opens),
    (r"(\w+) is mended", Play.mends),
    (r"look: (.+)", Play.look),
]
