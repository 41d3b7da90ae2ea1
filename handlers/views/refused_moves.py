"""Private answers about everything else: braking what does not run, what is not known here, what is broken or busy.

Each function is one kind of `bot.errors.Refused`; its name is the kind. `FIXED` holds those that depend on nothing.
"""

from collections.abc import Mapping

from bot.core.run import Event, Hold
from handlers.views import record, words
from handlers.views.case import HOLDS, LETTING_GO, Case, Telling, standing_for
from handlers.views.text import date, inline, joined, plain


def already_done(case: Case) -> Telling:
    act = case.did if case.did in ("pause", "stop", "resume", "cancel", "confirm", "continue", "retry", "skip", "settle") else "do"
    state = case.state.rstrip(".") or f"{case.run} has ended"
    return Telling(f"Nothing to {act}: {state}{case.at}.", "Nothing changed.", f"ask for something new with {case.command('plan')}.")


def already_stopping(case: Case) -> Telling:
    return Telling(
        f"{case.run} is stopping already.",
        "Nothing further starts; what still runs is being cancelled.",
        f"the receipt comes on {case.card('its card')}.",
    )


def already_paused(case: Case) -> Telling:
    """Not a no: it stands, and whoever was first is named."""
    entry = record.last(case.scene.snapshot, Event.PAUSE_ASKED) if case.scene else None
    by_person = case.scene is not None and case.scene.run.reason is Hold.PERSON and entry is not None
    now = case.scene.now if case.scene else None
    what = f"{case.run} stands already."
    if by_person and entry is not None and case.scene is not None:
        what = f"Already paused by {words.profile(case.scene, entry.actor)}, {date(entry.at, now=now)}."
    return Telling(what, joined(case.state, "No further step starts.", by=" "), f"*Stop* on {case.card('its card')} ends it.")


def already_running(case: Case) -> Telling:
    what = f"{case.no}: {case.run} is past its review."
    return Telling(what, case.state or "It was approved.", f"press *Pause* or *Stop* on {case.card('its card')}.")


def held_otherwise(case: Case) -> Telling:
    run = case.scene.run if case.scene else None
    given = case.facts.get("reason")
    held = standing_for(run) if run and run.reason else HOLDS.get(Hold(given), "") if given in tuple(Hold) else ""
    held = held or "it is held for another reason"
    if run is not None and run.redirect is not None:
        then = f"*Never mind* on {case.card('its card')} goes on with the plan as it was."
    else:
        then = f"{case.card('its card')} has the button that lets it go on."
    if case.did == "edit":
        then = f"answer that on {case.card('its card')} first; then the rest can be edited."
    what = f"{case.no}: {case.run} was not paused by a person; {held}." if case.did in LETTING_GO else f"{case.no}: {held}."
    return Telling(what, "Nothing changed.", then)


def not_started(case: Case) -> Telling:
    act = case.did if case.did in ("pause", "resume") else "do"
    return Telling(f"Nothing to {act}: {case.run} has not started.", "Nothing runs.", "*Cancel* on its card drops it.")


def moved_on(case: Case) -> Telling:
    return Telling(
        f"{case.no}: this card is out of date.",
        joined(case.state, "Nothing changed.", by=" "),
        f"look at {case.card('its card')} as it is now.",
    )


def budget_spent(case: Case) -> Telling:
    """A budget is stretched once."""
    kind = plain(str(case.facts.get("what") or ""), 20)
    what = f"{case.no}: the budget of {case.run} was stretched before{f' ({kind})' if kind else ''}, and that is done once."
    then = f"*Stop* on {case.card('its card')} ends it; *Change the rest* can leave out what is still to come."
    return Telling(what, joined(case.state, "Nothing is running.", by=" "), then)


def step_started(case: Case) -> Telling:
    number = _number(case)
    return Telling(
        f"Too late for a breakpoint: {number} has started{case.at}.",
        "It was not held.",
        f"press *Stop* on {case.card('its card')} to cancel it.",
    )


def _number(case: Case) -> str:
    steps = case.scene.plan.steps if case.scene else ()
    found = next((step for step in steps if step.id == case.facts.get("step")), None)
    return f"step {found.number}" if found else "that step"


def asked_again(case: Case) -> Telling:
    then = "look further down in this thread: the new run stands there."
    return Telling(f"{case.run} was asked again already.", "Your click changed nothing.", then)


def unknown_run(case: Case) -> Telling:
    if case.did.startswith("/"):
        then = f"{inline(case.name('cord') + ' runs')} lists those that there are."
        return Telling(f"Not done: there is no run {case.run}.", "Nothing changed.", then)
    what = f"Not taken: this Pullcord has no record of {case.run}."
    return Telling(
        what, "The card is from another installation, or its record is gone. Nothing changed.", f"ask anew with {case.command('plan')}."
    )


def unknown_step(case: Case) -> Telling:
    return Telling(
        f"Not taken: {case.run} has no such step.", joined(case.state, "Nothing changed.", by=" "), f"look at {case.card('its card')}."
    )


def unknown_revision(case: Case) -> Telling:
    return Telling(f"Not taken: {case.run} has no such revision.", "Nothing changed.", f"look at {case.card('its card')}.")


def form_expired(case: Case) -> Telling:
    button = plain(str(case.facts.get("button") or "the button"), 24)
    return Telling(
        "The form did not open: Slack allows 3 seconds, and they were over.",
        "Nothing changed; the card is still good.",
        f"press *{button}* again.",
    )


def fault(case: Case) -> Telling:
    number = plain(str(case.facts.get("number") or "an error without a number"), 20)
    return Telling(
        "Something broke in Pullcord; your click changed nothing.",
        f"It is in the log as {number}.",
        "try again. If it breaks again, tell an admin the number.",
    )


def not_yet(case: Case) -> Telling:
    return Telling(
        f"{case.no}: this version of Pullcord cannot do that yet.", "Nothing changed.", "*Cancel* the plan and ask again in other words."
    )


def plan_empty(case: Case) -> Telling:
    return Telling(
        "Nothing to plan: the message says nothing to do.",
        "Nothing was started.",
        f"{case.command('plan')} and what you want, such as `read notes/today.md, then summarize it`.",
    )


def ask_too_long(case: Case) -> Telling:
    length, limit = case.facts.get("length"), case.facts.get("limit")
    size = f" It has {int(length):,} characters; {int(limit):,} are possible." if length and limit else ""
    return Telling("Not taken: the ask is too long.", f"Nothing was started.{size}", "put the long part into a file and name the file.")


def nothing_to_do(case: Case) -> Telling:
    word = plain(str(case.facts.get("word") or "do"), 20)
    refused = [plain(str(run), 20) for run in case.facts.get("refused") or ()]
    others = f"Not yours to {word}: {', '.join(refused[:10])}." if refused else "Nothing changed."
    here = "no run that you may reach is live" if refused else "no run is live in this channel"
    listing = inline(f"{case.name('cord')} runs")
    every = inline(f"{case.name(word)} all") if word in ("pause", "resume", "stop") else ""
    then = f"{listing} lists those elsewhere" + (f"; {every} means every run that you may {word}." if every else ".")
    return Telling(f"Nothing to {word}: {here}.", others, then)


def unknown_word(case: Case) -> Telling:
    word = inline(str(case.facts.get("word") or "that"), 40)
    nearest = str(case.facts.get("closest") or "")
    near = f"The closest is {inline(nearest)}." if nearest else "Nothing changed."
    return Telling(f"Unknown: {word}.", near, f"{inline(case.name('cord') + ' help')} lists all.")


def plan_no_access(case: Case) -> Telling:
    invite = "`/invite @Pullcord`, then ask again; or write to it directly."
    return Telling(f"{case.no if case.did else 'Not taken'}: Pullcord is not in this channel.", "It could not show the plan here.", invite)


FIXED: Mapping[str, Telling] = {
    "no_access": Telling(
        "Not taken: Pullcord is not in this channel.",
        "It could not show the plan here.",
        "`/invite @Pullcord`, then ask again; or write to it directly.",
    ),
    "busy": Telling(
        "Not taken: Pullcord is busy beyond its bounds.",
        "Nothing is recorded of this click.",
        "try again in a few seconds; the card is still good.",
    ),
    "after_restart": Telling(
        "Not taken: Pullcord is just starting.",
        "Nothing is recorded of this click.",
        "press again in a few seconds; the card is still good.",
    ),
}
