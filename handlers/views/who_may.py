"""Who may say yes to what waits, as lines of its card: who has, who is still missing, who may not and why, and whether enough are left.

The rules themselves are the guard's; here they are only put into words, from the policy's `may_not` and from who had a hand in the thing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core import confirms, hands
from bot.core.hands import Hands
from bot.core.plan import Step
from bot.core.risk import Level
from bot.core.run import Run
from bot.core.snapshot import Approval
from handlers.views import words
from handlers.views.scene import Scene
from handlers.views.text import count, date, in_words, is_person, joined, listed, ping

MOST_NAMED = 5
THEIRS = "it is their change"


@dataclass(frozen=True)
class Asked:
    """What people are asked for: its risk, who made it, who said yes, how many must."""

    level: Level
    made: Hands
    given: Sequence[Approval] = ()
    needed: int = 1
    edited: str = "edited this plan"

    @property
    def missing(self) -> int:
        """How many more yeses it takes."""
        return max(self.needed - len(self.given), 0)


def of_revision(scene: Scene, run: Run, n: int, *, level: Level, given: Sequence[Approval]) -> Asked:
    """The yes to revision `n`. `run`: as it stands, without that revision in its place."""
    made = hands.of_revision(run, scene.snapshot.revisions, scene.snapshot.entries, n)
    new = scene.snapshot.revised(n)
    edited = "edited this revision" if new is not None and made.editors == (new.author,) else "edited this plan"
    return Asked(level, made, given, scene.quorum, edited if run.redirect is None else THEIRS)


def of_values(scene: Scene, step: Step, *, level: Level, filling: str) -> Asked:
    """The yes to the real values of one step; `filling`: their digest, or its beginning."""
    snapshot, approved = scene.snapshot, scene.snapshot.grades.get(step.id)
    made = hands.of_step(scene.run, snapshot.revisions, snapshot.entries, scene.plan, snapshot.steps, step.id)
    mine = [one for one in snapshot.approvals if (one.kind, one.step, one.revision) == ("confirm", step.id, scene.run.revision)]
    given = [one for one in mine if one.digest.startswith(filling[:8])]
    agreed = approved is not None and confirms.is_agreed(snapshot.entries, step.id, words.state_of(scene, step).revision)
    needed = confirms.needed(scene.quorums, level, approved.level if approved and agreed else None)
    return Asked(level, made, given, needed, "edited this step, or what flows into it")


def lines(scene: Scene, asked: Asked, *, verb: str = "approve", covers: str = "", so_far: str = "Nothing has started.") -> list[str]:
    """*Approvals*, *Who may approve* or *Still needed*, and what holds if too few are left who could."""
    made = []
    if asked.needed > 1:
        signed = " ".join(f"✓ {ping(one.actor)} {date(one.at, now=scene.now)}" for one in asked.given)
        made.append(f"*Approvals:* {joined(f'{len(asked.given)} of {asked.needed}{covers}', signed)}")
    elif covers:
        made.append(f"*Approvals:* {len(asked.given)} of {asked.needed}{covers}")
    if asked.given:
        more = f"{in_words(asked.missing)} more {'person' if asked.missing == 1 else 'people'}"
        made.append(f"*Still needed:* {more}: {scene.approvers}{barred(scene, asked, given=True)}. {so_far}")
    else:
        many = f"{in_words(asked.needed)} people: " if asked.needed > 1 else ""
        made.append(f"*Who may {verb}:* {many}{scene.approvers}{barred(scene, asked)}")
    return [*made, *([said] if (said := too_few(scene, asked)) else [])]


def barred(scene: Scene, asked: Asked, *, given: bool = False) -> str:
    """`, not requester and not approver2 (edited this plan)`: whose yes does not count, linked and not pinged."""
    out = _kept_out(scene, asked)
    if given:
        out |= {one.actor: "" for one in asked.given if one.actor not in out}
    found = []
    for why in dict.fromkeys(out.values()):
        named = listed((words.profile(scene, user) for user, because in out.items() if because == why and is_person(user)), "or")
        found += [f"not {named}{f' ({why})' if why else ''}"] if named else []
    return f", {listed(found)}" if found else ""


def _kept_out(scene: Scene, asked: Asked) -> dict[str, str]:
    """Who may not because of what they did, and what that was; for who only asked it stands on the card already."""
    made = asked.made
    by_word = {
        "editors": (made.editors, asked.edited),
        "redirectors": (made.redirectors, THEIRS),
        "source_author": ((made.source_author,) if made.source_author else (), "it is made from their message"),
        "requester": ((made.requester,), ""),
    }
    said: dict[str, str] = {}
    for word, (people, why) in by_word.items():
        if word in scene.may_not.get(asked.level, ()):
            said |= {user: why for user in people if user and user not in said}
    return said


def left(scene: Scene, asked: Asked) -> list[str] | None:
    """Who could still say yes; None if nobody knows who may."""
    if scene.able is None:
        return None
    gone = {*_kept_out(scene, asked), *(one.actor for one in asked.given)}
    return sorted(user for user in scene.able if user not in gone)


def too_few(scene: Scene, asked: Asked) -> str:
    """The yes that is asked for cannot come: who is left, and that it expires unless somebody changes that. Empty if enough are left."""
    able = left(scene, asked)
    if able is None or len(able) >= asked.missing:
        return ""
    named = listed(words.profile(scene, user) for user in able[:MOST_NAMED])
    who = f"only {named} could still say yes" if able else "nobody is left who could say yes"
    lacking = asked.missing - len(able)
    more = "one more approver" if lacking == 1 else count(lacking, "more approver", "more approvers")
    return f"⚠️ *Too few are left:* {who}, and {_needs(asked)}. Unless an admin names {more} in the policy, it expires."


def _needs(asked: Asked) -> str:
    return f"{in_words(asked.missing)} {'is' if asked.missing == 1 else 'are'} needed"
