"""Makes the README's pictures from the real demo: `python -m tests.browser.screenshot [NAME…]`, into .github.

What they show is what a newcomer sees: a plan that waits for approval, the edit form above it, a run at its breakpoint, and a rest that a
reply has changed.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.demo_process import REPOSITORY, DemoProcess
from tests.browser.watching import open_watched

FIRST = "/plan read ops/hosts.txt and read app/config.toml"
SECOND = "/plan read notes/today.md, then summarize it, then post the summary to #general"
HELD = (
    "/plan notes: files.read path=notes/today.md\n"
    'brief: text.summarize text="{{notes.text}}"\n'
    'post: slack.post_message channel=#ops text="{{brief.summary}}" !break'
)
SIZE = {"width": 1280, "height": 900}
SLOW_MS = 30_000


class Studio:
    """One demo and one browser; each picture is taken as approver, in the thread of the newest run."""

    def __init__(self, browser: Browser, front_page: str) -> None:
        self.browser, self.front_page = browser, front_page
        self.complaints: list[str] = []
        self.asked = 0

    async def ask(self, words: str, state: str) -> None:
        """As requester, and wait until the run's card says this."""
        page = await open_watched(self.browser, self.front_page, self.complaints)
        await page.get_by_test_id("composer").fill(words)
        await page.get_by_test_id("composer").press("Enter")
        self.asked += 1
        cards = page.locator("#messages").get_by_test_id("message")
        await expect(cards).to_have_count(self.asked, timeout=SLOW_MS)
        await expect(cards.last).to_contain_text(state, timeout=SLOW_MS)
        await page.context.close()

    async def thread(self) -> tuple[Page, Locator]:
        """The newest run's thread, beside the channel."""
        page = await open_watched(self.browser, self.front_page, self.complaints, person="approver", **SIZE)
        last = page.locator("#messages").get_by_test_id("message").last
        await last.get_by_test_id("thread-open").or_(last.get_by_test_id("reply")).first.click()
        return page, page.get_by_test_id("thread")

    async def review(self) -> Page:
        """A plan that waits for approval."""
        await self.ask(FIRST, "Done · 2 of 2 steps")
        await self.ask(SECOND, "Needs approval")
        page, thread = await self.thread()
        await expect(thread.get_by_role("button", name="Approve")).to_be_visible(timeout=SLOW_MS)
        return page

    async def edit(self) -> Page:
        """The edit form of a plan."""
        await self.ask(HELD, "Needs approval")
        page, thread = await self.thread()
        await thread.get_by_role("button", name="Edit").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Save", timeout=SLOW_MS)
        return page

    async def breakpoint(self) -> Page:
        """A run that stands at its breakpoint, with what it has found."""
        await self.ask(HELD, "Needs approval")
        page, thread = await self.thread()
        await thread.get_by_role("button", name="Approve").click()
        card = page.locator("#messages").get_by_test_id("message").last
        await expect(card.get_by_role("button", name="Continue")).to_be_visible(timeout=SLOW_MS)
        await card.scroll_into_view_if_needed()
        return page

    async def redirect(self) -> Page:
        """A reply has changed the rest; only what it added is asked."""
        page = await self.breakpoint()
        await page.get_by_test_id("thread-composer").fill("also post it to #general")
        await page.get_by_test_id("thread-composer").press("Enter")
        asked = page.get_by_test_id("thread").get_by_role("button", name="Approve").last
        await expect(asked).to_be_visible(timeout=SLOW_MS)
        await asked.scroll_into_view_if_needed()
        return page


PICTURES: dict[str, Callable[[Studio], Awaitable[Page]]] = {
    "review-card": Studio.review,
    "edit-form": Studio.edit,
    "breakpoint-card": Studio.breakpoint,
    "redirect-card": Studio.redirect,
}


async def main(names: list[str]) -> None:
    """Take these pictures, each of a demo of its own."""
    place = find_chromium()
    if place is None:
        sys.exit("no Chromium found; install one or name it in PULLCORD_CHROMIUM")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=place, args=FLAGS)
        for name in names:
            await _take(browser, name)
        await browser.close()


async def _take(browser: Browser, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        demo = DemoProcess(Path(folder) / "data")
        await demo.start()
        try:
            studio = Studio(browser, demo.front_page)
            page = await PICTURES[name](studio)
            await page.evaluate("document.activeElement.blur()")
            await page.mouse.move(2, 2)
            target = REPOSITORY / ".github" / f"{name}.png"
            await page.screenshot(path=target, animations="disabled")
        finally:
            await demo.end()
    print(f"{target} · {target.stat().st_size / 1000:.0f} kB")
    if studio.complaints:
        sys.exit("the page complained:\n" + "\n".join(studio.complaints))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or list(PICTURES)))
