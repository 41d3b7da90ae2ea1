"""The page in a real browser: talk, cards, forms, private answers, other people, and text that wants to be more than text."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import Workspace, start_workspace
from tests.browser.conftest import OpenPage
from tests.browser.watching import PATIENCE_MS

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASK = "@Pullcord read notes/today.md"


async def say(page: Page, text: str, *, box: str = "composer") -> None:
    await page.get_by_test_id(box).fill(text)
    await page.get_by_test_id(box).press("Enter")


async def open_card(page: Page) -> Locator:
    """Ask the bot, open the thread that it answers in, and return its card."""
    await say(page, ASK)
    await page.get_by_text("1 reply").click()
    card = page.get_by_test_id("thread").get_by_test_id("message").filter(has_text="Needs approval")
    await expect(card).to_be_visible()
    return card


async def test_what_is_said_stands_in_the_channel_and_the_bots_card_in_its_thread(open_page: OpenPage) -> None:
    page = await open_page()

    card = await open_card(page)

    await expect(page.locator("#messages").get_by_test_id("message")).to_contain_text("@Pullcord read notes/today.md")
    await expect(card.get_by_role("heading", name="Needs approval")).to_be_visible()
    await expect(page.get_by_test_id("thread-composer")).to_be_focused()


async def test_a_click_redraws_the_card_without_a_reload_for_everyone_who_looks(open_page: OpenPage) -> None:
    requester = await open_page("requester")
    card = await open_card(requester)
    approver = await open_page("approver")
    await approver.get_by_text("1 reply").click()

    await approver.get_by_test_id("thread").get_by_role("button", name="Approve").click()

    await expect(card).to_have_count(0)
    await expect(requester.get_by_test_id("thread").get_by_role("heading", name="Approved by approver")).to_be_visible()
    await expect(requester.get_by_role("button", name="Approve")).to_have_count(0)
    await expect(requester.get_by_role("button", name="Stop")).to_be_visible()


async def test_a_redraw_takes_neither_what_is_typed_nor_the_focused_control(open_page: OpenPage) -> None:
    page = await open_page()
    await open_card(page)
    await page.get_by_test_id("thread-composer").fill("half a sent")
    redraw = page.get_by_role("button", name="Redraw")
    await redraw.focus()

    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Drawn again")).to_be_visible()
    await expect(redraw).to_be_focused()
    await expect(page.get_by_test_id("thread-composer")).to_have_value("half a sent")


async def test_a_form_shows_its_error_at_the_field_and_closes_when_it_is_right(open_page: OpenPage) -> None:
    page = await open_page()
    await open_card(page)
    opener = page.get_by_role("button", name="Ask for changes")
    await opener.click()
    modal = page.get_by_test_id("modal")
    field = modal.get_by_label("What should change")
    await expect(field).to_be_focused()

    await modal.get_by_role("button", name="Save").click()
    await expect(modal.get_by_text("Please complete this required field.")).to_be_visible()
    await field.fill("please change it")
    await modal.get_by_role("button", name="Save").click()
    await expect(modal.locator(".field").get_by_text("Say what, not please.")).to_be_visible()
    await expect(field).to_have_value("please change it")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await field.fill("only the first file")
    await modal.get_by_role("button", name="Save").click()

    await expect(modal).to_be_hidden()
    await expect(page.get_by_test_id("thread").get_by_text("only the first file")).to_be_visible()


async def test_escape_closes_a_form_and_the_focus_goes_back_to_what_opened_it(open_page: OpenPage) -> None:
    page = await open_page()
    await open_card(page)
    opener = page.get_by_role("button", name="Ask for changes")
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("modal")).to_be_visible()
    for _ in range(12):  # round and round: the focus stays inside
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement === document.body || document.activeElement.closest('dialog') !== null")

    await page.keyboard.press("Escape")

    await expect(page.get_by_test_id("modal")).to_be_hidden()
    await expect(opener).to_be_focused()


async def test_a_private_answer_stands_in_the_thread_for_that_person_only(open_page: OpenPage) -> None:
    requester, approver = await open_page("requester"), await open_page("approver")
    await open_card(requester)
    await approver.get_by_text("1 reply").click()

    await requester.get_by_role("button", name="Approve").click()

    private = requester.get_by_test_id("thread").get_by_test_id("ephemeral")
    await expect(private).to_contain_text("Not approved: you asked for it yourself.")
    await expect(private).to_contain_text("Only visible to you")
    await expect(approver.get_by_test_id("ephemeral")).to_have_count(0)
    await private.get_by_role("button", name="Dismiss message").click()
    await expect(private).to_have_count(0)


async def test_slash_commands_are_offered_keep_their_lines_and_answer_privately(open_page: OpenPage) -> None:
    page = await open_page()
    composer = page.get_by_test_id("composer")
    await composer.press_sequentially("/pl")
    await expect(page.get_by_role("option", name="/plan")).to_be_visible()
    await composer.press("Enter")
    await expect(composer).to_have_value("/plan ")

    await composer.press_sequentially("first")
    await composer.press("Shift+Enter")
    await composer.press_sequentially("second")
    await composer.press("Enter")

    await expect(page.get_by_test_id("ephemeral")).to_contain_text("Taken, 2 lines.")
    await expect(page.get_by_test_id("message").filter(has_text="Planning")).to_contain_text(re.compile(r"first\s+second"))


async def test_a_command_in_a_thread_is_not_sent_but_explained(open_page: OpenPage) -> None:
    page = await open_page()
    await open_card(page)

    await say(page, "/pause", box="thread-composer")

    await expect(page.get_by_text("Slash commands do not work in threads.")).to_be_visible()
    await expect(page.get_by_test_id("thread-composer")).to_have_value("/pause")


async def test_another_person_sees_other_channels_and_acts_under_their_own_name(open_page: OpenPage) -> None:
    page = await open_page()
    people = page.get_by_test_id("person-switch")
    assert await people.locator("option").all_inner_texts() == ["requester", "approver", "approver2", "member", "guest", "partner"]

    await people.select_option("guest")

    await expect(page.get_by_test_id("channel-audit")).to_have_count(0)
    await say(page, "hello from outside")
    await expect(page.get_by_test_id("message").filter(has_text="hello from outside")).to_contain_text("guest")
    await page.reload()
    await expect(people).to_have_value("U0GUEST")
    await people.select_option("partner")
    await expect(page.get_by_test_id("channel-partners")).to_have_attribute("aria-current", "page")


async def test_a_channel_with_something_new_is_marked_until_it_is_looked_at(open_page: OpenPage) -> None:
    reader, writer = await open_page("approver"), await open_page("member", at="general")
    general = reader.get_by_test_id("channel-general")
    await say(writer, "first words")
    await expect(general).to_have_attribute("aria-label", re.compile("unread"))

    await general.click()

    await expect(reader.get_by_test_id("message")).to_contain_text("first words")
    await expect(general).not_to_have_attribute("aria-label", re.compile("unread"))


async def test_home_and_shortcuts_open_forms(open_page: OpenPage) -> None:
    page = await open_page()
    await say(page, "words to plan from")
    message = page.get_by_test_id("message").filter(has_text="words to plan from")
    await message.hover()
    await message.get_by_test_id("message-menu").click()
    await page.get_by_role("menuitem", name="Plan from this message").click()
    modal = page.get_by_test_id("modal")
    await expect(modal.get_by_label("What should change")).to_have_value("words to plan from")
    await modal.get_by_role("button", name="Back").click()
    await expect(modal).to_be_hidden()

    await page.get_by_test_id("shortcuts").click()
    await page.get_by_role("menuitem", name="New plan").click()
    await expect(modal.get_by_label("What should change")).to_have_value("from the menu")
    await page.keyboard.press("Escape")
    await page.get_by_test_id("home-open").click()
    await page.get_by_test_id("home").get_by_role("button", name="New plan").click()

    await expect(modal).to_be_visible()


async def test_the_direct_message_with_the_app_is_a_place_like_any_other(open_page: OpenPage, client: AsyncWebClient) -> None:
    page = await open_page()
    await page.get_by_test_id("channel-pullcord").click()

    await say(page, "only for you")
    await expect(page.get_by_test_id("message")).to_contain_text("only for you")
    await client.chat_postMessage(channel="U0REQUESTER", text="and for you")

    await expect(page.get_by_test_id("message").filter(has_text="and for you")).to_be_visible()


async def test_a_thread_says_that_the_app_is_at_work_and_offers_what_to_ask(open_page: OpenPage, client: AsyncWebClient) -> None:
    page = await open_page()
    await open_card(page)
    ts = await page.locator("#messages").get_by_test_id("message").get_attribute("data-ts")

    await client.assistant_threads_setStatus(channel_id="C0OPS", thread_ts=ts, status="is thinking…")
    prompts = [{"title": "How far?", "message": "status"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id="C0OPS", thread_ts=ts, prompts=prompts)

    await expect(page.get_by_text("Pullcord is thinking…")).to_be_visible()
    await page.get_by_role("button", name="How far?").click()
    await expect(page.get_by_test_id("thread-composer")).to_have_value("status")


async def test_a_link_to_a_message_here_opens_it_in_the_page(open_page: OpenPage, client: AsyncWebClient) -> None:
    page = await open_page()
    far = await client.chat_postMessage(channel="C0GENERAL", text="the far message")
    reply = await client.chat_postMessage(channel="C0GENERAL", thread_ts=far["ts"], text="its reply")
    links = [(await client.chat_getPermalink(channel="C0GENERAL", message_ts=one["ts"]))["permalink"] for one in (far, reply)]
    await client.chat_postMessage(channel="C0OPS", text=f"<{links[0]}|card> and <{links[1]}|reply>")

    await page.get_by_role("link", name="reply").click()

    await expect(page.get_by_test_id("thread").get_by_test_id("message").filter(has_text="its reply")).to_be_visible()
    await expect(page.locator("#messages")).to_contain_text("the far message")
    fresh = await page.context.new_page()
    await fresh.goto(links[0])
    await expect(fresh.get_by_test_id("thread").get_by_test_id("message").filter(has_text="its reply")).to_be_visible()


async def test_own_messages_can_be_changed_and_deleted_and_any_can_be_reacted_to(open_page: OpenPage) -> None:
    page = await open_page()
    await say(page, "one typo & <two>")
    message = page.get_by_test_id("message")
    await message.hover()
    await message.get_by_test_id("message-menu").click()
    await page.get_by_role("menuitem", name="Edit message").click()
    editor = message.get_by_label("Text of the message")
    await expect(editor).to_have_value("one typo & <two>")
    await editor.fill("no typo")
    await editor.press("Enter")
    await expect(message).to_contain_text("no typo")
    await expect(message).to_contain_text("(edited)")

    await message.hover()
    await message.get_by_role("button", name="Add reaction").click()
    await page.get_by_role("menuitem", name="eyes").click()
    await expect(message.get_by_role("button", name="eyes: requester")).to_have_attribute("aria-pressed", "true")
    await message.get_by_test_id("message-menu").click()
    await page.get_by_role("menuitem", name="Delete message").click()

    await expect(message).to_have_count(0)


async def test_a_button_with_a_question_asks_first(open_page: OpenPage) -> None:
    page = await open_page()
    card = await open_card(page)
    await card.get_by_role("button", name="Sure").click()
    await page.get_by_test_id("confirm").get_by_role("button", name="Better not").click()
    await expect(page.get_by_test_id("confirm")).to_have_count(0)
    await expect(card).to_be_visible()

    await card.get_by_role("button", name="Sure").click()
    await page.get_by_test_id("confirm").get_by_role("button", name="Do it").click()

    await expect(page.get_by_role("heading", name="Sure")).to_be_visible()


async def test_a_click_that_nobody_takes_is_not_silent(open_page: OpenPage) -> None:
    page = await open_page()
    card = await open_card(page)

    await card.get_by_role("button", name="Deaf").click()

    await expect(card.get_by_role("button", name="Deaf")).to_be_disabled()
    await expect(card.get_by_role("alert")).to_contain_text("Pullcord did not answer within 3 seconds. Try again.")
    await expect(card.get_by_role("button", name="Deaf")).to_be_enabled()


HOSTILE = (
    "<img src=x onerror=alert(1)> <script>alert(2)</script> <!channel> <javascript:alert(3)|click me> [x](javascript:alert(4)) &lt;b&gt;"
)


async def test_hostile_text_stays_text_wherever_it_stands(open_page: OpenPage, client: AsyncWebClient) -> None:
    """C-cases of injected markup: what a person, a file or a model wrote is shown, never obeyed."""
    page = await open_page()
    await say(page, HOSTILE)
    said = page.get_by_test_id("message")
    await expect(said).to_contain_text("<img src=x onerror=alert(1)>")

    await client.chat_postMessage(
        channel="C0OPS",
        text="hostile",
        blocks=[
            {"type": "section", "text": {"type": "mrkdwn", "text": HOSTILE}},
            {"type": "markdown", "text": HOSTILE},
            {"type": "header", "text": {"type": "plain_text", "text": "<img src=x onerror=alert(1)>"}},
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [{"type": "text", "text": HOSTILE}, {"type": "link", "url": "javascript:alert(5)", "text": "link"}],
                    }
                ],
            },
            {"type": "image", "image_url": "https://example.com/spy.png", "alt_text": "a <b>picture</b>"},
        ],
    )

    card = page.get_by_test_id("message").filter(has_text="picture")
    await expect(card.get_by_role("heading")).to_have_text("<img src=x onerror=alert(1)>")
    assert await page.locator("#messages img:not([src='/page/icon.svg']), #messages script, #messages b").count() == 0
    assert await page.locator("#messages a[href^='javascript']").count() == 0


MARKED = (
    "*bold* _it_ ~gone~ `code *no*` 2*3*4 snake_case_name <https://example.com/a|label> <@U0APPROVER> <#C0GENERAL>"
    " <!subteam^S0OPSLEADS> :eyes: :nope: <https://evil.example|bank.example>"
    "\n&gt; quoted\n```\nfence *no*\n```"
)


async def test_marks_in_text_mean_what_they_mean_in_slack(open_page: OpenPage, client: AsyncWebClient) -> None:
    page = await open_page()

    await client.chat_postMessage(channel="C0OPS", text=MARKED)

    message = page.get_by_test_id("message")
    for tag, words in (("strong", "bold"), ("em", "it"), ("s", "gone"), ("blockquote", "quoted"), ("pre", "fence *no*"), ("a", "label")):
        await expect(message.locator(tag).first).to_have_text(words)
    await expect(message).to_contain_text("bank.example (really evil.example)")
    for words in ("code *no*", "2*3*4 snake_case_name", "@approver", "@ops-leads", "👀 :nope:"):
        await expect(message).to_contain_text(words)
    await message.get_by_role("button", name="#general").click()
    await expect(page.get_by_role("heading", name="#general")).to_be_visible()


async def test_a_block_that_is_not_known_is_seen_to_be_missing(open_page: OpenPage) -> None:
    page = await open_page()

    shown = await page.evaluate("""async () => {
        const { renderBlock } = await import("/page/blocks.js");
        const warn = console.warn;
        const heard = [];
        console.warn = (...words) => heard.push(words.join(" "));
        const node = renderBlock({ type: "hologram" }, {});
        console.warn = warn;
        return [node.textContent, heard];
    }""")

    assert shown == ["[hologram] This kind of block is not shown here.", ["block not known: hologram"]]


async def test_the_first_visit_shows_three_things_to_try_and_can_be_sent_away(open_page: OpenPage) -> None:
    page = await open_page("member", at="general", greet=True)
    await expect(page.get_by_role("heading", name="Three things to try")).to_be_visible()

    await page.get_by_role("button", name="Write it for me").click()

    await expect(page.get_by_test_id("composer")).to_have_value(re.compile("^/plan read notes/today.md"))
    await expect(page.get_by_test_id("person-switch")).to_have_value("U0REQUESTER")
    await page.get_by_role("button", name="Dismiss the greeting").click()
    await page.reload()
    await expect(page.get_by_test_id("composer")).to_be_visible()
    await expect(page.get_by_role("heading", name="Three things to try")).to_be_hidden()


async def test_on_a_narrow_screen_the_rail_folds_and_the_thread_covers(open_page: OpenPage) -> None:
    page = await open_page(width=390)
    await expect(page.get_by_test_id("channel-ops")).to_be_hidden()
    await open_card(page)
    assert (await page.get_by_test_id("thread").bounding_box())["width"] == 390
    await page.get_by_role("button", name="Hide the thread").click()

    await page.get_by_role("button", name="Channels and people").click()
    await page.get_by_test_id("channel-general").click()

    await expect(page.get_by_role("heading", name="#general")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == 390


async def test_a_workspace_that_comes_back_is_found_again(
    open_page: OpenPage,
    workspace: Workspace,
    complaints: list[str],
    tmp_path: Path,
) -> None:
    page = await open_page()
    await say(page, "before")
    await expect(page.get_by_test_id("message")).to_contain_text("before")
    gone = page.get_by_text("Connection lost. Reconnecting…")
    await expect(gone).to_be_hidden()

    await workspace.stop()
    await expect(gone).to_be_visible()
    await page.get_by_test_id("composer").fill("kept")
    again = await start_workspace(data=tmp_path / "data", port=int(workspace.url.rpartition(":")[2]), manifest=tmp_path / "manifest.yml")

    await expect(gone).to_be_hidden(timeout=PATIENCE_MS)
    await expect(page.get_by_test_id("composer")).to_have_value("kept")
    await page.get_by_test_id("composer").press("Enter")
    await expect(page.get_by_test_id("message").filter(has_text="kept")).to_be_visible()
    await again.stop()
    complaints[:] = [words for words in complaints if "ERR_" not in words]


async def test_the_reader_keeps_their_place_while_others_talk_and_the_page_changes_its_width(
    open_page: OpenPage,
    client: AsyncWebClient,
) -> None:
    for number in range(40):
        await client.chat_postMessage(channel="C0OPS", text=f"line {number} " + "of many words " * 25)
    page = await open_page()
    log = page.locator("#messages")
    await expect(page.get_by_text("line 39 ")).to_be_in_viewport()
    await log.evaluate("log => log.scrollTop = 900")
    seen = page.get_by_test_id("message").filter(has_text="line 12 ")
    await seen.scroll_into_view_if_needed()

    await page.set_viewport_size({"width": 1010, "height": 860})
    await client.chat_postMessage(channel="C0OPS", text="news at the end")

    await expect(page.get_by_role("button", name="New messages")).to_be_visible()
    await expect(seen).to_be_in_viewport()
    await page.get_by_role("button", name="New messages").click()
    await expect(page.get_by_text("news at the end")).to_be_in_viewport()
    await page.set_viewport_size({"width": 1280, "height": 860})
    await expect(page.get_by_text("news at the end")).to_be_in_viewport()
