"""A page that is watched: what it complains about, opens by itself, or asks of another server is written down."""

from playwright.async_api import Browser, Page

PATIENCE_MS = 8_000


async def open_watched(
    browser: Browser,
    front_page: str,
    complaints: list[str],
    *,
    person: str = "requester",
    at: str = "ops",
    greet: bool = False,
    width: int = 1280,
    height: int = 860,
) -> Page:
    """The workspace as that person sees it at that place, in a browser profile of its own; `page.context` is to be closed."""
    context = await browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    home = front_page.partition("?")[0]
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: complaints.extend([] if request.url.startswith((home, "data:")) else [request.url]))
    if not greet:
        await page.add_init_script("localStorage.setItem('pullcord.greeted', 'yes')")
    await page.goto(f"{front_page}#as={person}&at={at}")
    await page.get_by_test_id("composer").wait_for()
    return page
