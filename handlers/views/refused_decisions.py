"""Private answers about deciding: approve, confirm, edit, cancel, and letting a held run go on.

Each function is one kind of `bot.errors.Refused`; its name is the kind.
"""

from bot.core.risk import Level
from bot.core.run import Hold, Redirect, RunStatus
from handlers.views import blocks, ids, pages, words
from handlers.views.case import LETTING_GO, Case, Telling
from handlers.views.text import date, inline, is_person, joined, listed


def stale(case: Case) -> Telling:
    current = case.facts.get("current") or (case.scene.run.revision if case.scene else "")
    newer = f"revision {current}" if current else "the newest revision"
    made = case.scene.snapshot.revised(int(current)) if case.scene and str(current).isdigit() else None
    by = ""
    if case.scene is not None and made is not None and is_person(made.author) and current != case.facts.get("revision"):
        by = f"{words.profile(case.scene, made.author)} edited the plan, {date(made.at, now=case.scene.now)}; "
    kind = "redirect" if case.scene is not None and case.scene.run.redirect is not None else "review"
    planning = case.scene is not None and case.scene.run.redirect is Redirect.PLANNING
    if planning or (case.scene is not None and case.scene.run.status is RunStatus.PLANNING):
        now = f"Another revision is being planned: {case.state} Nothing changed."
        return Telling(f"{case.no}: this card is out of date.", now, "wait for the new card, or reply in the thread.", words=_given(case))
    if case.scene is not None and case.scene.run.is_final:
        now = joined(case.state, "Nothing changed.", by=" ")
        return Telling(f"{case.no}: this card is out of date.", now, f"look at {case.card('its card')}.", words=_given(case))
    stands = f"{by}{newer} stands now." if by else f"{newer.capitalize()} stands now."
    what = f"{case.no}: this card is out of date."
    return Telling(what, f"{stands} Nothing changed.", f"decide on {case.card(newer, kind)}.", words=_given(case))


def _given(case: Case) -> str:
    """The words that came with it, which are given back."""
    return str(case.facts.get("words") or "")


def expired(case: Case) -> Telling:
    when = f" {case.at[2:]}" if case.at else ""
    ran = "Nothing ran." if case.scene is None or not case.scene.run.approved else case.state
    return Telling(
        f"{case.no}: {case.run} expired{when}.", ran, f"ask again with {case.command('plan')}; it makes a fresh plan and review."
    )


def double(case: Case) -> Telling:
    verb = "confirmed" if case.did == "confirm" else "approved"
    return Telling(f"You {verb} this already{case.at}.", f"Once is enough. {case.state}".strip(), f"follow it on {case.card('its card')}.")


def quorum(case: Case) -> Telling:
    if case.did == "confirm":
        what = f"You confirmed this already{case.at}; another person is still needed: the plan was approved without these values."
        then = f"ask somebody else: {case.approvers}. It can be confirmed{case.until or ' still'}."
        return Telling(what, "The step has not started.", then)
    what = f"You approved this already{case.at}; another person is still needed."
    return Telling(what, "Nothing has started.", f"ask somebody else: {case.approvers}. The review is open{case.until or ' still'}.")


def late_approved(case: Case) -> Telling:
    runs = case.scene is None or case.scene.run.status in (RunStatus.QUEUED, RunStatus.RUNNING)
    return Telling(
        f"Already approved{case.by}{case.at}.",
        f"Your click changed nothing. {case.state}".strip(),
        f"look at {case.card('its card')}." if not runs else f"to hold it, press *Pause* on {case.card('its card')}.",
    )


def late_cancelled(case: Case) -> Telling:
    return Telling(
        f"Already cancelled{case.by}{case.at}.",
        "Your click changed nothing; nothing ran.",
        f"the reason stands on {case.card('the card', 'review')}; {case.requester} can ask again.",
    )


def not_waiting(case: Case) -> Telling:
    return Telling(
        f"{case.no}: {case.run} waits for nobody.",
        joined(case.state, "Your click changed nothing.", by=" "),
        f"look at {case.card('its card')}.",
    )


def tool_changed(case: Case) -> Telling:
    tools = [str(tool) for tool in case.facts.get("tools") or ([case.facts["tool"]] if case.facts.get("tool") else [])]
    named = listed(inline(tool) for tool in tools[:3]) or "a tool"
    has = "has" if len(tools) <= 1 else "have"
    return Telling(
        f"{case.no}: {named} {has} changed since this card was made.",
        "What was shown is no longer what would run. Nothing changed.",
        f"cancel this plan and ask again with {case.command('plan')}; the new plan has the new definition.",
    )


def open_first(case: Case) -> Telling:
    if case.did == "confirm":
        what = f"{case.no}: the values are not shown in full on the card."
        return Telling(what, "Nothing changed.", "open *Show all* and go to the last page; *Confirm* is there.")
    opened, total = case.facts.get("opened"), case.facts.get("pages") or (pages.page_count(case.scene) if case.scene else None)
    seen = f"You have opened {int(opened)} of its {int(total)} pages. " if opened is not None and total else ""
    where = "go to the last page; *Approve* is there" if total != 1 else "read it; *Approve* is there"
    button = None
    if case.scene:
        value = ids.encode(case.scene.run.id, case.scene.run.revision)
        button = blocks.button(ids.REVIEW_SHOW_ALL, value, about=words.about(case.scene), style="primary")
    what = f"{case.no}: this plan is not shown in full on the card."
    return Telling(what, f"{seen}Nothing changed.", f"open *Show all* and {where}.", button=button)


def not_allowed(case: Case) -> Telling:
    if case.did in LETTING_GO:
        return resume(case)
    open_to_all = "ask one of them. *Pause* and *Stop* are open to you while it runs."
    if case.did in ("approve", "confirm", "settle"):
        act = {"approve": f"approving {case.run}", "confirm": f"confirming a step of {case.run}"}.get(
            case.did, f"saying what became of a step of {case.run}"
        )
        what = f"{case.no}: {act} is for {case.approvers}, and you are not among them."
        return Telling(what, "Nothing changed.", open_to_all)
    if case.did in ("pause", "stop", "breakpoint"):
        what = f"{case.no}: in this workspace the cord is not for everyone, and you are not among those who may pull it."
        return Telling(what, "Nothing changed.", f"ask {case.approvers} or {case.requester}.")
    acts = {
        "change": f"changing the rest of {case.run}",
        "never mind": f"taking a change of {case.run} back",
        "edit": f"editing {case.run}",
    }
    act = acts.get(case.did, "that")
    who = f"whoever said it, {case.approvers} or {case.requester}" if case.did == "never mind" else f"{case.approvers} or {case.requester}"
    return Telling(f"{case.no}: {act} is for {who}.", "Nothing changed.", open_to_all, words=_given(case))


def resume(case: Case) -> Telling:
    budget = case.did == "continue" and case.scene is not None and case.scene.run.reason is Hold.BUDGET
    who = case.approvers if budget else f"{case.approvers} or {case.requester}"
    act = f"granting {case.run} more of its budget" if budget else f"letting {case.run} go on"
    what = f"{case.no}: pausing is for everyone here, {act} is for {who}."
    stays = case.scene is not None and case.scene.run.reason is Hold.PERSON
    then = f"ask one of them, or press *Stop* on {case.card('its card')}."
    return Telling(what, "It stays paused." if stays else "It stays as it is.", then)


def own_request(case: Case) -> Telling:
    what = f"{case.no}: you asked for this, and at {_risk(case)} risk other people decide."
    if case.did == "confirm":
        return Telling(what, "Nothing changed.", f"{case.approvers} can confirm it{case.until}. *Refuse* and *Stop* are open to you.")
    return Telling(what, "Nothing changed.", f"{case.approvers} can approve it{case.until}. *Cancel* is open to you.")


def _risk(case: Case) -> str:
    risk = str(case.facts.get("risk") or "high")
    return risk if risk in tuple(Level) else "high"


def own_edit(case: Case) -> Telling:
    made = "you edited this revision" if case.did == "approve" else "you edited this step, or what flows into it"
    made = "it follows your reply" if case.facts.get("by_word") else made
    return Telling(f"{case.no}: {made}, so somebody else decides.", "Nothing changed.", _somebody_else(case))


def _somebody_else(case: Case) -> str:
    """Who is left to decide; and what becomes of it, and can be done, if that is nobody."""
    then = f"somebody else: {case.approvers}{case.until}."
    if case.scene is None or case.scene.run.redirect is None:
        return f"{then} If nobody else can, it expires; *{'Stop' if case.did in ('confirm', 'settle') else 'Cancel'}* is open to you."
    return f"{then} If nobody else can, the run stops there; *Never mind* goes on with the plan as it was approved."


def source_author(case: Case) -> Telling:
    return Telling(f"{case.no}: the plan was made from a message of yours.", "Nothing changed.", _somebody_else(case))


def step_up(case: Case) -> Telling:
    verb = "Confirm" if case.did == "confirm" else "Approve"
    what = f"{case.no}: this workspace asks for it in writing, and what was typed is not what it asks for."
    if not case.facts.get("typed"):
        what = f"{case.no}: this workspace asks for it in writing."
    where = case.card("its card", "confirm" if case.did == "confirm" else "review")
    return Telling(what, "Nothing changed.", f"press *{verb}* on {where} and type the name that the form asks for.")


def nobody_set(case: Case) -> Telling:
    what = f"{case.no}: the policy names no approvers, so nobody may approve."
    then = "an admin adds people under `approvers:` in the policy; `pullcord check` says how."
    return Telling(what, f"Nothing changed; {case.run} expires{case.until.replace(' until', '') or ' by itself'}.", then)


def guest(case: Case) -> Telling:
    return Telling(
        f"{case.no}: guests do not decide here.", "Nothing changed; you can read along in this thread.", f"ask {case.approvers}."
    )


def partner(case: Case) -> Telling:
    what = f"{case.no}: your account is from another workspace."
    return Telling(
        what,
        "Only people of this workspace decide. Nothing changed.",
        f"ask {case.requester}, who asked for it." if case.scene else "ask somebody here.",
    )


def deactivated(case: Case) -> Telling:
    return Telling(f"{case.no}: this account is deactivated.", "Nothing changed.", f"ask {case.approvers}.")


def bot(case: Case) -> Telling:
    return Telling(f"{case.no}: bots do not decide here.", "Nothing changed.", f"a person does it: {case.approvers}.")


def confirm_void(case: Case) -> Telling:
    return Telling(
        f"{case.no}: the values have changed since this card was made.",
        "Nothing was changed.",
        f"look at {case.card('the new card', 'confirm')}.",
    )


def no_revisions_left(case: Case) -> Telling:
    given, limit = _given(case), case.facts.get("limit")
    button = None
    if case.scene is not None and case.scene.run.status is RunStatus.IN_REVIEW:
        value = ids.encode(case.scene.run.id, case.scene.run.revision)
        button = blocks.button(ids.REVIEW_EDIT, value, about=words.about(case.scene), style="primary")
    used = f"its {int(limit)} revisions" if limit and str(limit).isdigit() else "its revisions"
    return Telling(
        f"Not sent: {case.run} has used {used}.",
        "The planner is not asked again." + (" Your words, so that they are not lost:" if given else ""),
        "change it by hand with *Edit*, approve it, or cancel.",
        words=given,
        button=button,
    )


def not_approved(case: Case) -> Telling:
    return Telling(f"Not started: {case.run} is not approved.", "Nothing ran.", f"decide on {case.card('its review', 'review')}.")
