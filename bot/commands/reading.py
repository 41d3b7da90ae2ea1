"""What a person has opened of that which no card shows in full: the pages of a review, or of the values that a step would run with (P2)."""

from bot.core import policy
from bot.deps import Deps

MOST_REMEMBERED = 2_000


def page_opened(deps: Deps, run_id: str, what: int | str, page: int, pages: int, *, who: policy.Member) -> bool:
    """Remember that this person opened that page; True once they have opened them all. Lost at a restart, on purpose.

    `what` is the number of a revision, or the filling of a step. Only the latest are remembered: who comes back after thousands of others
    opens the pages once more.
    """
    key = (run_id, what, who.id)
    seen = deps.opened.setdefault(key, set())
    deps.opened.move_to_end(key)
    while len(deps.opened) > MOST_REMEMBERED:
        deps.opened.popitem(last=False)
    seen.add(page)
    return seen.issuperset(range(1, pages + 1))


def has_opened_all(deps: Deps, run_id: str, what: int | str, pages: int, *, who: policy.Member) -> bool:
    """Has this person opened every page? Sending the form of one page opens none."""
    return deps.opened.get((run_id, what, who.id), set()).issuperset(range(1, pages + 1))
