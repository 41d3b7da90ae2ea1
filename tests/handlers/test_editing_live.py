"""Changing what is still to come: by hand on a run that stands, in words, and the values of a step that waits for confirmation."""

from bot.core.run import Event, Redirect
from tests.doubles.town import Message, Person, find_button, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall
from tests.handlers.test_editing import change, entered, press, revision
from tests.handlers.test_review import entries, reviewed

STANDS = "one: test.change name=a\ntwo: test.change name=b !break after=one\nthree: test.look name={{two.name}}"
CONFIRMED = "one: test.look name=old\ntwo: test.destroy name={{one.name}}"


async def standing(hall: Hall, plan: str = STANDS) -> tuple[str, Person]:
    """An approved run that has come to its breakpoint."""
    run_id, card = await reviewed(hall, plan)
    approver = hall.person("approver")
    await approver.press("Approve", card, "#ops")
    await hall.until(run_id, "paused")
    return run_id, approver


async def by_hand(hall: Hall, person: Person) -> Message:
    """The list, by way of Change the rest."""
    await person.press("Change the rest", await person.card("#ops", "Change the rest"), "#ops")
    words = await person.modal("from here on")
    await press(hall, person, words, "Edit")
    return await person.modal("Save makes revision")


async def test_what_has_run_stands_there_without_a_menu_and_only_the_rest_is_changed(hall: Hall) -> None:
    run_id, approver = await standing(hall)
    listed = await by_hand(hall, approver)
    rows = [block for block in listed["blocks"] if block["type"] == "section"]
    assert ["accessory" in row for row in rows] == [False, True, True]
    assert "Changed a* — done" in rows[0]["text"]["text"]

    form = await change(hall, approver, listed, "two")
    await approver.submit(form["id"], entered(form, arg__name="other"))
    await approver.submit((await approver.modal("name changed"))["id"], {})

    async def proposed() -> bool:
        run = (await hall.show(run_id)).run
        return run.redirect is Redirect.REVIEW and run.proposed == 2

    await eventually(proposed, "the new rest to wait for people")
    (asked,) = await entries(hall, run_id, Event.REDIRECT_PLANNED)
    assert asked.data["asked"] == ["two"]  # three only reads
    assert (await hall.show(run_id)).run.revision == 1


async def test_a_text_of_a_live_run_holds_only_what_can_change(hall: Hall) -> None:
    run_id, approver = await standing(hall)
    listed = await by_hand(hall, approver)
    await press(hall, approver, listed, "As text")
    text = await approver.modal("notation.1")
    typed = next(block["element"]["initial_value"] for block in text["blocks"] if block.get("block_id") == "notation.1")
    assert "one:" not in typed
    assert "Step 1 has run and stays as it is." in text_of(text)

    answer = await approver.submit(text["id"], entered(text, notation__1=typed + "\none: test.look name=x"))
    assert "has run; give this one another id" in str(answer["errors"])
    await approver.submit(text["id"], entered(text, notation__1="three: test.look name={{one.name}}"))
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert [(step.id, step.number) for step in after.plan.steps] == [("one", 1), ("three", 3)]
    assert (await hall.until(run_id, "succeeded")).state("three").args == {"name": "a"}


async def test_change_the_rest_in_words_is_the_same_as_a_reply(hall: Hall) -> None:
    run_id, approver = await standing(hall)
    await approver.press("Change the rest", await approver.card("#ops", "Change the rest"), "#ops")
    words = await approver.modal("from here on")
    assert "what is done stays done" in text_of(words)

    await approver.submit(words["id"], entered(words, words="skip two"))

    async def asked() -> bool:
        return bool(await entries(hall, run_id, Event.REDIRECT_ASKED))

    await eventually(asked, "the words to be on record")
    (entry,) = await entries(hall, run_id, Event.REDIRECT_ASKED)
    assert (entry.data["text"], entry.actor) == ("skip two", "U0APPROVER")


async def test_changes_are_asked_for_in_words(hall: Hall) -> None:
    run_id, card = await reviewed(hall, "test.change name=a")
    approver = hall.person("approver")
    await approver.press("Ask for changes", card, "#ops")
    form = await approver.modal("What should be different?")
    assert "The planner makes revision 2" in str(form)

    await approver.submit(form["id"], entered(form, words="test.change name=b"))

    async def asked() -> bool:
        return bool(await entries(hall, run_id, Event.CHANGES_ASKED))

    await eventually(asked, "the words to be on record")
    (entry,) = await entries(hall, run_id, Event.CHANGES_ASKED)
    assert entry.data["words"] == "test.change name=b"


async def waiting(hall: Hall) -> tuple[str, Person, Message]:
    run_id, card = await reviewed(hall, CONFIRMED)
    approver = hall.person("approver")
    await approver.press("Approve", card, "#ops")
    approver2 = hall.person("approver2")
    if (await hall.show(run_id)).run.status == "in_review":
        await approver2.press("Approve", card, "#ops")
    await hall.until(run_id, "paused")
    return run_id, approver, await approver.card("#ops", "Confirm")


async def test_the_values_of_a_step_that_waits_are_changed_and_asked_about_again(hall: Hall) -> None:
    run_id, approver, card = await waiting(hall)
    await approver.press("Change arguments", card, "#ops")
    form = await approver.modal("These are the values")
    element = next(block["element"] for block in form["blocks"] if block.get("block_id") == "arg.name")
    assert element["initial_value"] == "old"

    answer = await approver.submit(form["id"], {})
    assert "Not" in text_of(answer["view"])
    answer = await approver.submit(form["id"], entered(form, arg__name="new"))
    assert answer["response_action"] == "clear", answer

    async def again() -> bool:
        found = await hall.show(run_id)
        return found.run.status == "paused" and found.run.revision == 2 and found.state("two").args == {"name": "new"}

    await eventually(again, "the step to ask again with its new values")
    await approver.press("Confirm", card, "#ops")
    assert "values have changed" in text_of(await approver.told("values have changed"))


async def test_an_older_confirm_card_opens_no_form(hall: Hall) -> None:
    _, approver, card = await waiting(hall)
    block_id, element = find_button(card, "Change arguments") or ("", {})
    body = {"channel": "#ops", "message_ts": card["ts"], "action_id": "confirm.change", "block_id": block_id}
    old = element["value"].rsplit(".", 1)[0] + ".00000000"
    await hall.people.call("POST", "/people/approver/actions", body | {"value": old})
    assert await approver.told("have changed")
