"""The main job as a newcomer does it: the real demo, and nothing but clicks and typing in its page."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.demo_process import DemoProcess

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

ASK = "/plan read notes/today.md, then summarize it, then post the summary to #general"
SLOW_MS = 25_000  # what takes several messages between the processes, on a busy machine
STATES = ["Planning", "Needs approval", "Queued", "Running", "Writing the answer", "Done"]


async def ask(page: Page, words: str) -> str:
    """Type a command, read the run's id in the private answer, and return it."""
    taken = page.get_by_test_id("ephemeral").filter(has_text="Taken as")
    before = await taken.count()
    await page.get_by_test_id("composer").fill(words)
    await page.get_by_test_id("composer").press("Enter")
    await expect(taken).to_have_count(before + 1, timeout=SLOW_MS)
    found = re.search(r"R-[0-9A-Z]+", await taken.last.inner_text())
    assert found
    return found[0]


async def see(place: Locator, *words: str) -> None:
    """Wait until all these words stand there."""
    for some in words:
        await expect(place).to_contain_text(some, timeout=SLOW_MS)


def card(page: Page, run_id: str) -> Locator:
    """The run card in the channel."""
    return page.locator("#messages").get_by_test_id("message").filter(has_text=run_id)


async def open_thread(page: Page, run_id: str) -> Locator:
    """Click on the replies below the run card, and return the thread."""
    await card(page, run_id).get_by_test_id("thread-open").click(timeout=SLOW_MS)
    thread = page.get_by_test_id("thread")
    await see(thread, run_id)
    return thread


def review_in(thread: Locator) -> Locator:
    """The card on which people decide."""
    return thread.get_by_test_id("message").filter(has_text="Who may approve")


async def become(page: Page, person: str) -> None:
    await page.get_by_test_id("person-switch").select_option(person)
    await expect(page.get_by_test_id("person-switch").locator("option:checked")).to_have_text(person)


async def press(place: Locator, label: str) -> None:
    """Press the one button whose visible word is exactly this."""
    await place.get_by_role("button").filter(has_text=re.compile(f"^{label}$")).click(timeout=SLOW_MS)


async def approve_as_another(visit: OpenPage, run_id: str) -> Page:
    """A second person opens the thread and approves."""
    page = await visit("approver")
    await press(await open_thread(page, run_id), "Approve")
    return page


async def write_down_states(page: Page) -> None:
    """From now on the page keeps each headline that a card in the channel has shown."""
    await page.evaluate("""() => {
        window.headlines = [];
        const look = () => {
            const line = [...document.querySelectorAll("#messages h3")].at(-1)?.textContent;
            if (line && window.headlines.at(-1) !== line) window.headlines.push(line);
        };
        new MutationObserver(look).observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
    }""")


async def test_a_plan_is_asked_for_approved_by_another_person_run_answered_and_on_record(visit: OpenPage) -> None:
    page = await visit()
    await write_down_states(page)
    run_id = await ask(page, ASK)
    await see(card(page, run_id), "Needs approval", "Medium risk: 1 of 3", "Nothing runs before that.")

    await become(page, "approver")
    thread = await open_thread(page, run_id)
    review = review_in(thread)
    await see(review, "3 · Sends a message to #general", "Medium risk", "filled in later from 2", "notes/today.md")
    await press(review, "Approve")

    await see(card(page, run_id), "Done · 3 of 3 steps", "What was done: Sent a message to #general.")
    await see(thread, "Approved", "Report", "The login page was slow on Monday morning", "3 · Sent a message to #general")
    await expect(thread).not_to_contain_text("C0GENERAL")  # words, not a tool's raw result
    await expect(thread.get_by_role("button", name="Approve")).to_have_count(0)
    heard = [re.sub(r" · .*", "", line) for line in await page.evaluate("window.headlines")]
    states = [next(state for state in STATES if state in line) for line in dict.fromkeys(heard)]
    assert states == [state for state in STATES if state in states]
    assert {"Needs approval", "Done"} <= set(states)

    await page.get_by_test_id("channel-general").click()
    await see(page.locator("#messages").get_by_test_id("message"), "Pullcord", "The login page was slow on Monday morning")
    await page.get_by_test_id("channel-audit").click()
    approved = page.locator("#messages").get_by_test_id("message").filter(has_text="Approved")
    await see(approved, run_id, "approver", "U0APPROVER", "digest")
    await see(page.locator("#messages").get_by_test_id("message").filter(has_text="Done"), run_id, "3 finished")


async def test_the_requesters_own_approve_gets_a_private_answer_and_changes_nothing(visit: OpenPage) -> None:
    page, other = await visit(), await visit("approver")
    run_id = await ask(page, ASK)
    thread, others = await open_thread(page, run_id), await open_thread(other, run_id)

    await press(thread, "Approve")

    private = thread.get_by_test_id("ephemeral")
    await see(private, "Only visible to you", "Not approved", "@ops-leads", "Next:")
    await expect(others.get_by_test_id("ephemeral")).to_have_count(0)
    await see(card(page, run_id), "Needs approval")
    await expect(others.get_by_role("button", name="Approve")).to_be_enabled()


async def test_a_plan_is_cancelled_with_a_reason(visit: OpenPage) -> None:
    page = await visit()
    run_id = await ask(page, ASK)
    thread = await open_thread(page, run_id)
    await press(review_in(thread), "Cancel")
    form = page.get_by_test_id("modal")
    await see(form, f"Cancel {run_id}", "Nothing has run.")

    await form.get_by_label("Wrong target").check()
    await form.get_by_label("In your words").fill("the partners read #general too")
    await press(form, "Cancel the plan")

    await expect(form).to_be_hidden(timeout=SLOW_MS)
    await see(card(page, run_id), "Cancelled", "the partners read #general too", "Nothing ran.")
    await see(thread.get_by_test_id("message").last, "Cancelled", "the partners read #general too")
    await expect(thread.get_by_role("button", name="Approve")).to_have_count(0)
    await page.get_by_test_id("channel-audit").click()
    await see(page.locator("#messages"), "Cancelled", run_id, "the partners read #general too")


async def test_stop_while_a_step_runs_ends_in_a_receipt(visit: OpenPage) -> None:
    page = await visit()
    run_id = await ask(page, "/plan w: time.wait seconds=300\npost: slack.post_message channel=#general text=never after=w")
    await see(card(page, run_id), "Needs approval")
    await approve_as_another(visit, run_id)
    await see(card(page, run_id), "Running · 0 of 2 done", "1 · Waits 300 seconds — running")

    await press(card(page, run_id), "Stop")

    await see(card(page, run_id), "Stopped · nothing is left running", "Cancelled · 1", "Not started · 1", "Nothing was changed or sent.")
    await expect(card(page, run_id).get_by_role("button", name="Stop")).to_have_count(0)
    await page.get_by_test_id("channel-general").click()
    await expect(page.locator("#messages")).to_contain_text("Nothing has been said here yet.")


async def test_a_plan_too_long_for_its_card_is_approved_on_the_last_page(visit: OpenPage) -> None:
    page = await visit()
    lines = [f'f{number}: files.write path=out/{number}.txt text="line {number}"' for number in range(1, 25)]
    run_id = await ask(page, "/plan " + "\n".join(lines))
    await see(card(page, run_id), "Needs approval", "Medium risk: 24 of 24")
    approver = await visit("approver")
    thread = await open_thread(approver, run_id)
    await see(thread, "Not shown in full here.")
    await expect(thread.get_by_role("button", name="Approve")).to_have_count(0)

    await press(thread, "Show all")
    pages = approver.get_by_test_id("modal")
    for number in (1, 2):
        await see(pages, f"page {number} of 3", f"Changes out/{10 * number}.txt")
        await expect(pages.get_by_role("button", name="Approve")).to_have_count(0)
        await press(pages, "Next")
    await see(pages, "page 3 of 3", "Changes out/24.txt", "You have opened all 3 pages.")
    await press(pages, "Approve")

    await expect(pages).to_be_hidden(timeout=SLOW_MS)
    await see(card(page, run_id), "Done · 24 of 24 steps", "Changed out/1.txt", "20 more")


async def words_in(page: Page) -> list[str]:
    """What stands in the channel, without the times."""
    return [re.sub(r"\s+", " ", text) for text in await page.locator("#messages").get_by_test_id("message").all_inner_texts()]


async def test_a_demo_that_was_killed_comes_back_with_its_messages_and_a_card_that_works(visit: OpenPage, demo: DemoProcess) -> None:
    page = await visit()
    run_id = await ask(page, ASK)
    await see(card(page, run_id), "Review card ↓ in this thread")
    await expect(card(page, run_id).get_by_role("link", name="Review card")).to_be_visible(timeout=SLOW_MS)
    before = await words_in(page)
    await page.context.close()

    await demo.kill()
    await demo.start()

    page = await visit("approver")
    await expect(card(page, run_id)).to_be_visible()
    assert await words_in(page) == before
    await press(await open_thread(page, run_id), "Approve")
    await see(card(page, run_id), "Done · 3 of 3 steps")
    await page.get_by_test_id("channel-general").click()
    await expect(page.locator("#messages").get_by_test_id("message")).to_have_count(1)
