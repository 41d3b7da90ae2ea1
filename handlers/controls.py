"""The cord in Slack: buttons, commands and words that pause, stop, resume, and let a held run go on.

The brake is short on purpose: who pulls it is looked up in what is known, and nothing else is asked of Slack before the command. `/pause`,
`/resume` and `/stop` mean the one run of the channel that they can mean; where there are several, one button each is offered.
"""

from collections.abc import Awaitable, Callable, Mapping

from bot import runs
from bot.commands import controls
from bot.core.run import Hold, Run, RunStatus
from bot.errors import Refused
from handlers import cord, errors, modals, scenes, sight, whisper
from handlers.context import Command, Message, Place, Press, Submission
from handlers.deciding import as_person, deciding
from handlers.desk import Desk
from handlers.views import ids, reasons, refusals, slash

S = RunStatus
FITS: Mapping[str, frozenset[RunStatus]] = {
    "pause": frozenset({S.QUEUED, S.RUNNING, S.PAUSING, S.PAUSED}),
    "resume": frozenset({S.PAUSING, S.PAUSED}),
    "stop": frozenset({S.PLANNING, S.IN_REVIEW, S.QUEUED, S.RUNNING, S.PAUSING, S.PAUSED}),
}

# Kinds of refusals that say nothing of the person: the run moved between the look and the turn.
OVERTAKEN = frozenset({"already_done", "already_paused", "already_stopping", "held_otherwise", "moved_on", "not_started"})


async def pause(desk: Desk, run_id: str, *, actor: str, team: str) -> Run:
    """No further step starts."""
    return await controls.pause(desk.deps, run_id, who=await desk.slack.directory.at_the_cord(actor, team))


async def stop(desk: Desk, run_id: str, *, actor: str, team: str) -> Run:
    """The run ends; what runs is cancelled and accounted for."""
    return await controls.stop(desk.deps, run_id, who=await desk.slack.directory.at_the_cord(actor, team))


async def resume(desk: Desk, run_id: str, *, actor: str, team: str) -> Run:
    """The run goes on."""
    return await as_person(desk, actor, team, lambda who: controls.resume(desk.deps, run_id, who=who))


BY_WORD: Mapping[str, Callable[..., Awaitable[Run]]] = {"pause": pause, "resume": resume, "stop": stop}


# buttons


async def on_pause(desk: Desk, press: Press) -> None:
    """Pause."""
    await pause(desk, press.target.run, actor=press.actor, team=press.team)


async def on_stop(desk: Desk, press: Press) -> None:
    """Stop. It never asks back."""
    await stop(desk, press.target.run, actor=press.actor, team=press.team)


async def on_resume(desk: Desk, press: Press) -> None:
    """Resume."""
    await resume(desk, press.target.run, actor=press.actor, team=press.team)


async def on_continue(desk: Desk, press: Press) -> None:
    """Continue past the hold at which the run stands."""
    target = press.target
    await deciding(desk, press, lambda who: controls.proceed(desk.deps, target.run, target.step, who=who))


async def on_retry(desk: Desk, press: Press) -> None:
    """Try the failed step again."""
    target, step, tries = press.target, _step(press), _tries(press.target)
    await deciding(desk, press, lambda who: controls.retry(desk.deps, target.run, step, who=who, tries=tries))


async def on_skip(desk: Desk, press: Press) -> None:
    """Leave the failed step out."""
    target, step, tries = press.target, _step(press), _tries(press.target)
    await deciding(desk, press, lambda who: controls.skip(desk.deps, target.run, step, who=who, tries=tries))


async def on_not_happened(desk: Desk, press: Press) -> None:
    """The step in doubt did not take effect."""
    target, step, tries = press.target, _step(press), _tries(press.target)
    await deciding(desk, press, lambda who: controls.not_happened(desk.deps, target.run, step, who=who, tries=tries))


async def on_happened(desk: Desk, press: Press) -> None:
    """It happened: what was seen is asked for, in a modal."""
    target = press.target

    async def form() -> modals.View:
        await deciding(desk, press, lambda who: controls.may_settle(desk.deps, target.run, _step(press), who=who))
        return reasons.happened_form(await scenes.of_run(desk, target.run), target)

    await modals.open_filled(desk, press, form)


async def on_happened_sent(desk: Desk, sent: Submission) -> None:
    """What was seen stands in for the step's result."""
    target, note, tries = sent.target, sent.values.get("words", ""), _tries(sent.target)
    await deciding(desk, sent, lambda who: controls.happened(desk.deps, target.run, target.step or "", who=who, note=note, tries=tries))


def _tries(target: ids.Target) -> int | None:
    """Which try of the step the button was made for."""
    return int(target.filling) if target.filling and target.filling.isdigit() else None


def _step(press: Press) -> str:
    if press.target.step is None:
        raise Refused("unknown_run", run=press.value)
    return press.target.step


# commands and words


async def on_command(desk: Desk, typed: Command, word: str) -> None:
    """`/pause`, `/resume`, `/stop` with a run, `all`, or nothing."""
    named = typed.words[0] if typed.words else ""
    if named.casefold() == "all":
        await on_all(desk, typed.place, word, actor=typed.actor, team=typed.team)
        return
    found = [await sight.named(desk, named, typed)] if named else await _meant(desk, word, typed.channel)
    own = [run for run in found if run.requester == typed.actor]
    found = own if len(own) == 1 else found  # among others' runs, one's own only one is meant
    await _the_one(desk, typed.place, word, found, actor=typed.actor, team=typed.team)


async def on_word(desk: Desk, said: Message, word: str) -> None:
    """A control word as a direct message: it means the runs of this conversation, else those that this person asked for."""
    if word == "status":
        await cord.show_runs(desk, said.place)
        return
    found = await _meant(desk, word, said.channel)
    found = found or [run for run in await _meant(desk, word, None) if run.requester == said.actor]
    await _the_one(desk, said.place, word, found, actor=said.actor, team=said.team)


async def _the_one(desk: Desk, place: Place, word: str, found: list[Run], *, actor: str, team: str) -> None:
    """Do it to the only run that can be meant; else say that there is none, or ask which."""
    if len(found) == 1:
        await BY_WORD[word](desk, found[0].id, actor=actor, team=team)
        await whisper.tell(desk.slack, place, slash.done(await scenes.of_run(desk, found[0].id), word=word))
    elif found:
        shown = [await scenes.of_run(desk, run.id) for run in found[: slash.MOST_LISTED]]
        await whisper.tell(desk.slack, place, slash.which(shown, word=word, commands=desk.slack.commands))
    else:
        await whisper.tell(desk.slack, place, slash.none(word, commands=desk.slack.commands))


async def on_all(desk: Desk, place: Place, word: str, *, actor: str, team: str) -> None:
    """Every run that this person may see: those of private channels elsewhere are not theirs to brake, nor to hear of."""
    commands = desk.slack.commands
    done: list[str] = []
    refused: list[str] = []
    for run in await _meant(desk, word, None):
        if not await sight.may_see(desk, run, actor=actor, here=place.channel):
            continue
        no = await _refusal(desk, word, run, actor=actor, team=team)
        if no is None:
            done.append(run.id)
        elif no.kind not in OVERTAKEN:
            refused.append(run.id)
    if done:
        card = slash.all_done([await scenes.of_run(desk, run) for run in done], word=word, refused=refused, commands=commands)
    elif refused:
        card = refusals.refusal("nothing_to_do", {"word": word, "refused": refused}, commands=commands)
    else:
        card = slash.none(word, commands=commands)
    await whisper.tell(desk.slack, place, card)


async def _refusal(desk: Desk, word: str, run: Run, *, actor: str, team: str) -> Refused | None:
    """Do it to one of many; what the rules say against it is on record, and holds up no other."""
    try:
        await BY_WORD[word](desk, run.id, actor=actor, team=team)
    except Refused as refused:
        await errors.record(desk, refused, actor=actor, did=f"{word} all")
        return refused
    return None


async def _meant(desk: Desk, word: str, channel: str | None) -> list[Run]:
    """The runs for which the word makes sense, in one channel or everywhere."""
    found = [run for run in await runs.live(desk.deps, channel=channel) if run.status in FITS[word]]
    by_person = {"pause": False, "resume": True}.get(word)  # who waits for somebody else can be paused; only a pause can be resumed
    return [run for run in found if by_person is None or (run.reason is Hold.PERSON) == by_person]
