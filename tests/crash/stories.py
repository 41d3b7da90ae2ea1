"""Runs as people play them: what each of them waits for, does, and takes for an effect. Three of them together meet all of the cord."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.crash.lives import Point
from tests.crash.stage import FINAL, LOOK_S, Act, Facts, Stage
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import Message, text_of

Truth = Callable[[Facts], bool]


@dataclass(frozen=True)
class Deed:
    """Somebody does something, as soon as they can, until it has had its effect."""

    what: str
    act: Act
    done: Truth
    once: bool = False  # things said are said once; whoever clicks may click again


@dataclass(frozen=True)
class Story:
    """A run from the ask to its end, and what must be true of it then, whatever happened to the bot meanwhile."""

    name: str
    deeds: tuple[Deed, ...]
    status: str
    steps: Mapping[str, str]
    happened: Mapping[str, list[str]]  # the tools' effects, counted in files
    meets: frozenset[str]  # events that an undisturbed run has
    policy: str = DEMO_POLICY
    replies: Mapping[str, str] = field(default_factory=dict)  # what was said in the thread, and what it was made out to be


async def play(story: Story, stage: Stage, point: Point | None = None) -> None:
    """From the first word to the end. The bot dies at that point, and is started again whenever it has ended."""
    stage.bot.start(point)
    await stage.bot.ready()
    await perform(story.deeds, stage)
    await stage.until(lambda now: now.status in FINAL and bool(stage.bot.deaths or not point), what="the run to end")


async def perform(deeds: Iterable[Deed], stage: Stage) -> None:
    """One after another."""
    for deed in deeds:
        await stage.until(deed.done, deed.act, once=deed.once, what=deed.what)


def asks(plan: str) -> Deed:
    async def say(stage: Stage, _: Facts) -> bool:
        await stage.person("requester").say("#ops", f"@Pullcord {plan}")
        return True

    return Deed("asks", say, lambda now: now.events["opened"] > 0, once=True)


def presses(name: str, label: str, done: Truth) -> Deed:
    async def press(stage: Stage, _: Facts) -> bool:
        return await stage.press(name, label)

    return Deed(f"{name} presses {label}", press, done)


def writes(name: str, label: str, words: str, done: Truth) -> Deed:
    async def write(stage: Stage, _: Facts) -> bool:
        return await stage.write(name, label, words)

    return Deed(f"{name} writes after {label}", write, done)


def commands(name: str, text: str, done: Truth, when: Truth) -> Deed:
    async def type_it(stage: Stage, now: Facts) -> bool:
        return when(now) and bool((await stage.person(name).command("#ops", "/cord", text))["acked"])

    return Deed(f"{name} types /cord {text}", type_it, done)


def replies(words: str, done: Truth, when: Truth) -> Deed:
    async def say(stage: Stage, now: Facts) -> bool:
        if not when(now) or now.thread_ts is None:
            return False
        await stage.person("requester").say("#ops", words, thread_ts=now.thread_ts)
        return True

    return Deed(f"says {words}", say, done, once=True)


def opens(gate: str, when: Truth = lambda _: True) -> Deed:
    """The world lets a step go on that waits in it."""

    async def touch(stage: Stage, now: Facts) -> bool:
        if when(now):
            (stage.folder / f"{gate}.open").touch()
        return when(now)

    return Deed(f"{gate} opens", touch, lambda now: gate in now.open)


def pulls(name: str, label: str, done: Truth, when: Truth) -> Deed:
    async def press(stage: Stage, now: Facts) -> bool:
        return when(now) and await stage.press(name, label)

    return Deed(f"{name} presses {label}", press, done)


def edits(step: str, name: str, done: Truth) -> Deed:
    """The requester gives that step another name, in the edit form."""
    return Deed("the requester edits by hand", _EditByHand(step, name), done)


@dataclass(frozen=True)
class _EditByHand:
    step: str
    name: str

    async def __call__(self, stage: Stage, _: Facts) -> bool | float:
        editor = stage.person("requester")
        view = await stage.newest_view("requester")
        if view is None:
            return 0.2 if await stage.press("requester", "Edit") else False
        if "Loading" in text_of(view) and await self._fills(stage, view):
            return LOOK_S
        if "If it fails" in text_of(view):
            await editor.submit(view["id"], {"arg.name": {"value": self.name}})
            return 0.2
        if "not saved yet" in text_of(view):
            await editor.submit(view["id"], {})
            return True
        await self._pick(stage, view)
        return 0.2

    async def _fills(self, stage: Stage, view: Message) -> bool:
        """Does the bot fill the form that it has opened? One that was killed does not."""
        for _ in range(10):
            await asyncio.sleep(LOOK_S)
            now = await stage.newest_view("requester")
            if now is None or now["hash"] != view["hash"]:
                return True
        return False

    async def _pick(self, stage: Stage, view: Message) -> None:
        """Open the step's form; what shows no such step (a refusal, say) is closed."""
        menus = [(block, block["accessory"]) for block in view["blocks"] if block.get("accessory", {}).get("type") == "overflow"]
        found = [(block, option["value"]) for block, menu in menus for option in menu["options"]]
        mine = [(block, value) for block, value in found if value.endswith(f".{self.step}.change")]
        if not mine:
            await stage.people.call("POST", f"/people/requester/views/{view['id']}/close", {})
            return
        body = {"block_id": mine[0][0]["block_id"], "action_id": "edit.step", "value": mine[0][1]}
        await stage.people.call("POST", f"/people/requester/views/{view['id']}/actions", body)


def deploys(when: Truth) -> Deed:
    """Somebody ends the bot in order, while a step runs; it is started again as whenever it has ended."""

    async def end(stage: Stage, now: Facts) -> bool:
        if stage.bot.ended.count(0) == 0 and stage.bot.is_ready and when(now):
            stage.bot.signal(signal.SIGTERM)
            return True
        return False

    return Deed("a deployment", end, lambda now: now.events["resumed"] > 1)


def event(name: str, count: int = 1) -> Truth:
    return lambda now: now.events[name] >= count


def runs(step: str) -> Truth:
    return lambda now: now.step(step) == "running"


def stands(reason: str) -> Truth:
    return lambda now: now.status == "paused" and now.reason == reason


MAIN = Story(
    name="the main job",
    deeds=(
        asks(
            "look: test.look name=look\nfirst: test.change name=first after=look\nsecond: test.verified name=second after=first\n"
            'post: slack.post_message channel=#general text="done {{second.name}}"'
        ),
        presses("approver", "Approve", event("approved")),
        opens("second", runs("second")),
    ),
    status="succeeded",
    steps=dict.fromkeys(("look", "first", "second", "post"), "succeeded"),
    happened={"change": ["first"], "verified": ["second"]},
    meets=frozenset({"opened", "planned", "approved", "started", "step_started", "step_succeeded", "steps_done", "answered"}),
)

REVIEWED = Story(
    name="asked for changes, edited by hand, confirmed, refused",
    deeds=(
        asks(
            "look: test.look name=look\nfirst: test.change name=first after=look\n"
            "gone: test.destroy name={{first.name}}\nleft: test.previewed name={{gone.name}}"
        ),
        writes("approver", "Ask for changes", "add extra: test.change name=extra after=first", event("planned", 2)),
        edits("extra", "edited", event("revised")),
        presses("approver", "Approve", event("approval_given")),
        presses("approver2", "Approve", event("approved")),
        pulls("approver", "Confirm", event("confirmed"), stands("confirm")),
        Deed("approver2 refuses", lambda stage, _: stage.write("approver2", "Refuse", "not that one"), event("confirm_refused")),
    ),
    status="succeeded",
    steps={"look": "succeeded", "first": "succeeded", "gone": "succeeded", "left": "skipped", "extra": "succeeded"},
    happened={"change": ["edited", "first"], "destroy": ["first"], "previewed": []},
    meets=frozenset({"changes_asked", "revised", "approval_given", "approved", "held", "confirmed", "confirm_refused", "answered"}),
)

REDIRECTED = Story(
    name="redirected by a reply, and another one withdrawn",
    deeds=(
        asks(
            "look: test.look name=look\nfirst: test.gate name=first after=look\nsecond: test.change name=second after=first\n"
            "third: test.change name=third after=second !break"
        ),
        presses("approver", "Approve", event("approved")),
        replies("also tell #general that we ship", event("redirect_asked"), runs("first")),
        opens("first"),
        presses("approver", "Approve", event("redirected")),
        replies("add fourth: test.change name=fourth after=second", event("redirect_planned", 2), stands("breakpoint")),
        replies("never mind", event("withdrawn"), lambda _: True),
        pulls("approver", "Continue", event("continued"), stands("breakpoint")),
    ),
    status="succeeded",
    steps=dict.fromkeys(("look", "first", "second", "third", "post"), "succeeded"),
    happened={"passed": ["first"], "change": ["second", "third"]},
    meets=frozenset({"redirect_asked", "settled", "redirect_planned", "redirected", "held", "withdrawn", "continued", "answered"}),
    replies={"also tell #general that we ship": "change", "add fourth: test.change name=fourth after=second": "change"},
)

BRAKED = Story(
    name="paused, resumed, frozen, thawed, and ended in order",
    policy=DEMO_POLICY + "\ncord: {freeze: [approver]}\n",
    deeds=(
        asks(
            "first: test.gate name=first\nsecond: test.readgate name=second after=first\n"
            "third: test.gate name=third after=second\nlast: test.change name=last after=third"
        ),
        presses("approver", "Approve", event("approved")),
        pulls("member", "Pause", event("pause_asked"), runs("first")),
        opens("first"),
        pulls("requester", "Resume", event("resumed"), stands("person")),
        commands("approver", "freeze maintenance", event("frozen"), runs("second")),
        opens("second"),
        commands("approver", "thaw", event("thawed"), stands("freeze")),
        deploys(runs("third")),
        opens("third"),
    ),
    status="succeeded",
    steps=dict.fromkeys(("first", "second", "third", "last"), "succeeded"),
    happened={"passed": ["first", "third"], "change": ["last"]},
    meets=frozenset({"pause_asked", "settled", "resumed", "frozen", "thawed", "step_in_doubt", "not_happened", "answered"}),
)

STORIES: tuple[Story, ...] = (MAIN, REVIEWED, REDIRECTED, BRAKED)
