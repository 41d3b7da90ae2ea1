"""Makes the README's picture from the real demo: `python -m tests.browser.screenshot [FILE]`, by default .github/review-card.png.

What it shows is what a newcomer sees: one run that is done, and another whose plan waits for approval in the thread.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.demo_process import REPOSITORY, DemoProcess
from tests.browser.watching import open_watched

FIRST = "/plan read ops/hosts.txt and read app/config.toml"
SECOND = "/plan read notes/today.md, then summarize it, then post the summary to #general"
SIZE = {"width": 1280, "height": 900}
SLOW_MS = 30_000


async def main(target: Path) -> None:
    """Start the demo, ask twice, and take the picture."""
    place = find_chromium()
    if place is None:
        sys.exit("no Chromium found; install one or name it in PULLCORD_CHROMIUM")
    with tempfile.TemporaryDirectory() as folder:
        demo = DemoProcess(Path(folder) / "data")
        await demo.start()
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=place, args=FLAGS)
                await _take(browser, demo.front_page, target)
                await browser.close()
        finally:
            await demo.end()
    print(f"{target} · {target.stat().st_size / 1000:.0f} kB")


async def _take(browser: Browser, front_page: str, target: Path) -> None:
    complaints: list[str] = []
    requester = await open_watched(browser, front_page, complaints)
    await _ask(requester, FIRST, 1, "Done · 2 of 2 steps")
    await _ask(requester, SECOND, 2, "Needs approval")
    page = await open_watched(browser, front_page, complaints, person="approver", **SIZE)
    last = page.locator("#messages").get_by_test_id("message").last
    await expect(last.get_by_role("link", name="Review card")).to_be_visible(timeout=SLOW_MS)
    await last.get_by_test_id("thread-open").click()
    await expect(page.get_by_test_id("thread").get_by_role("button", name="Approve")).to_be_visible(timeout=SLOW_MS)
    await page.evaluate("document.activeElement.blur()")
    await page.mouse.move(2, 2)
    target.parent.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=target, animations="disabled")
    if complaints:
        sys.exit("the page complained:\n" + "\n".join(complaints))


async def _ask(page: Page, words: str, number: int, state: str) -> None:
    await page.get_by_test_id("composer").fill(words)
    await page.get_by_test_id("composer").press("Enter")
    cards = page.locator("#messages").get_by_test_id("message")
    await expect(cards).to_have_count(number, timeout=SLOW_MS)
    await expect(cards.last).to_contain_text(state, timeout=SLOW_MS)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / ".github" / "review-card.png"))
