"""What somebody has opened: by person, by what it was, and not for ever."""

from bot.commands import reading
from bot.deps import Deps
from tests.doubles.parts import APPROVER, APPROVER2


async def test_only_who_has_opened_every_page_has_opened_it_all(deps: Deps) -> None:
    assert not reading.page_opened(deps, "R-1", 1, 1, 2, who=APPROVER)
    assert not reading.page_opened(deps, "R-1", 1, 1, 2, who=APPROVER)
    assert not reading.page_opened(deps, "R-1", 1, 2, 2, who=APPROVER2)
    assert not reading.page_opened(deps, "R-1", 2, 2, 2, who=APPROVER)
    assert not reading.page_opened(deps, "R-1", "0123abcd", 2, 2, who=APPROVER)
    assert reading.page_opened(deps, "R-1", 1, 2, 2, who=APPROVER)


async def test_a_page_that_is_none_of_them_does_not_count(deps: Deps) -> None:
    assert not reading.page_opened(deps, "R-1", 1, 7, 2, who=APPROVER)
    assert not reading.page_opened(deps, "R-1", 1, 1, 2, who=APPROVER)


async def test_the_memory_is_bounded_and_keeps_the_latest(deps: Deps) -> None:
    for number in range(reading.MOST_REMEMBERED + 50):
        reading.page_opened(deps, f"R-{number}", 1, 1, 2, who=APPROVER)

    assert len(deps.opened) == reading.MOST_REMEMBERED
    assert reading.page_opened(deps, f"R-{number}", 1, 2, 2, who=APPROVER)
    assert not reading.page_opened(deps, "R-0", 1, 2, 2, who=APPROVER)
