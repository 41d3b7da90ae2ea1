"""Private answers about changing what is still to come, and about holding everything: edits, replies, freeze and thaw.

Each function is one kind of `bot.errors.Refused`; its name is the kind. Words that a person wrote are given back, never lost.
"""

from datetime import datetime

from bot.core.run import RunStatus
from handlers.views import redirect_closed, words
from handlers.views.case import Case, Telling
from handlers.views.text import date, inline, is_person, joined, ping, plain

MOST_FAULTS = 3
STARTING = frozenset({"", "ask", "plan", "/plan", "new plan", "plan from this message", "ask again"})


def frozen(case: Case) -> Telling:
    who = str(case.facts.get("by") or "")
    named = f" by {words.profile(case.scene, who) if case.scene else ping(who)}" if who else ""
    reason = str(case.facts.get("why") or case.facts.get("reason") or "")
    starts = case.did in STARTING
    no = "Not started" if starts else case.no
    now = "The ask is not kept." if starts else "Nothing changed; no run starts and no step starts."
    then = "ask again after the thaw." if starts else f"try again after the thaw. *Stop* works on {case.card('its card')}."
    given = str(case.facts.get("words") or "")
    told = joined(now, "The reason given:" if reason else "", by=" ")
    return Telling(f"{no}: Pullcord is frozen{named}{_at(case)}.", told, then, words=given, reason=reason)


def _at(case: Case) -> str:
    at = case.facts.get("at")
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return ""
    return f", {date(at, now=case.scene.now if case.scene else None)}" if isinstance(at, datetime) else ""


def already_frozen(case: Case) -> Telling:
    who = str(case.facts.get("by") or "")
    by = f" by {ping(who)}" if is_person(who) else ""
    reason = str(case.facts.get("why") or "")
    said = "No run starts and no step starts." + (" The reason given:" if reason else "")
    return Telling(f"Frozen already{by}{_at(case)}.", said, f"{inline(case.name('cord') + ' thaw')} lets everything go on.", reason=reason)


def not_frozen(case: Case) -> Telling:
    return Telling(
        "Nothing to thaw: nothing is frozen.", "Runs start and go on as usual.", f"{inline(case.name('cord') + ' runs')} lists them."
    )


def not_admin(case: Case) -> Telling:
    act = "the policy is changed by" if case.did == "reload" else "holding everything is for"
    what = f"{case.no}: {act} the admins of this workspace, and you are not among them."
    pause = inline(case.name("pause") + " all")
    return Telling(what, "Nothing changed.", f"ask one of them. {pause} pauses every run that you may pause.")


def edit_conflict(case: Case) -> Telling:
    who = str(case.facts.get("by") or "")
    by = f" by {words.profile(case.scene, who) if case.scene else ping(who)}" if is_person(who) else ""
    current = case.facts.get("current")
    newer = f"Revision {current}" if current else "Another revision"
    kind = "redirect" if case.scene is not None and case.scene.run.redirect is not None else "review"
    then = f"press *Edit* on {case.card('its card', kind)}; it begins from what stands now."
    return Telling(f"Not saved: {newer.lower()} was made{by} meanwhile.", f"{newer} stands as it is; nothing of yours was saved.", then)


def edit_too_late(case: Case) -> Telling:
    run = case.scene.run if case.scene else None
    now = joined(case.state, "Nothing was saved.", by=" ")
    if run is not None and run.is_final:
        return Telling("Not saved: it is too late for that.", now, f"ask for something new with {case.command('plan')}.")
    if run is not None and run.status is RunStatus.PLANNING:
        return Telling("Not saved: another revision is being planned.", now, "edit that one, once it is there.")
    then = f"press *Pause* on {case.card('its card')}, then edit; or reply in its thread with what is to change."
    return Telling("Not saved: the plan was approved meanwhile.", now, then)


def nothing_changed(case: Case) -> Telling:
    what = f"{case.no}: it is the same as before."
    return Telling(what, "Nothing was saved, and nothing changed.", f"change something first, or leave {case.card('the card')} as it is.")


def invalid_plan(case: Case) -> Telling:
    said = case.facts.get("faults")
    faults = [plain(redirect_closed.fault_words(fault), 200) for fault in said] if isinstance(said, list | tuple) else []
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    named = f" {'; '.join(faults[:MOST_FAULTS])}{more}." if faults else ""
    return Telling(f"{case.no}: the plan does not pass the checks.", f"Nothing was saved.{named}", "mend what is named and save again.")


def no_redirects_left(case: Case) -> Telling:
    limit = case.facts.get("limit")
    used = f"its {int(limit)} redirects" if limit and str(limit).isdigit() else "its redirects"
    given = str(case.facts.get("words") or "")
    now = "Nothing changed." + (" Your words, so that they are not lost:" if given else "")
    return Telling(
        f"Not changed: {case.run} has used {used}.",
        now,
        f"pause it and edit the rest by hand, or *Stop* on {case.card('its card')}.",
        words=given,
    )


def no_words(case: Case) -> Telling:
    return Telling(f"{case.no}: nothing was said.", "Nothing changed.", "say in a few words what is to be different.")


def not_live(case: Case) -> Telling:
    given = str(case.facts.get("words") or "")
    early = case.scene is not None and case.scene.run.status in (RunStatus.PLANNING, RunStatus.IN_REVIEW)
    then = f"use *Edit* or *Ask for changes* on {case.card('its review', 'review')}." if early else f"look at {case.card('its card')}."
    return Telling(f"{case.no}: {case.run} is not running.", joined(case.state, "Nothing changed.", by=" "), then, words=given)


def nothing_to_withdraw(case: Case) -> Telling:
    what = f"Nothing to withdraw: no change of {case.run} is open."
    runs = case.scene is not None and case.scene.run.status in (RunStatus.QUEUED, RunStatus.RUNNING)
    then = f"to hold it, press *Pause* on {case.card('its card')}." if runs else f"look at {case.card('its card')}."
    return Telling(what, joined(case.state, "Nothing changed.", by=" "), then)
