"""Edit by hand, as people do it in Slack: the list of steps, the form of one, the whole as text, and what is in the way of saving."""

from dataclasses import replace
from typing import Any

from bot.core.run import Event
from bot.core.snapshot import Snapshot
from handlers import editing, errors, notation_form
from handlers.context import Submission
from handlers.desk import Desk
from handlers.modals import Answer
from tests.doubles.town import Message, Person, find_button, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_review import entries, reviewed

TWO = "one: test.change name=a\ntwo: test.change name=b"
CHAIN = """notes: files.read path=notes.md
brief: text.summarize text="{{notes.text}}"
post: slack.post_message channel=#ops text="{{brief.summary}}\""""


async def opened(hall: Hall, plan: str, *, by: str = "requester") -> tuple[str, Person, Message]:
    """A run in review, somebody who edits it, and the list."""
    run_id, card = await reviewed(hall, plan)
    editor = hall.person(by)
    await editor.press("Edit", card, "#ops")
    return run_id, editor, await editor.modal("Save makes revision")


async def pick(hall: Hall, editor: Person, view: Message, step: str, move: str) -> Any:
    """A line of the menu beside a step."""
    menus = [(block, block["accessory"]) for block in view["blocks"] if block.get("accessory", {}).get("type") == "overflow"]
    found = [(block, option["value"]) for block, menu in menus for option in menu["options"] if option["value"].endswith(f".{step}.{move}")]
    assert found, f"no {move} beside {step}: {text_of(view)}"
    block, value = found[0]
    body = {"block_id": block["block_id"], "action_id": "edit.step", "value": value}
    return await hall.people.call("POST", f"/people/{editor.name}/views/{view['id']}/actions", body)


async def press(hall: Hall, editor: Person, view: Message, label: str) -> Any:
    found = find_button(view, label)
    assert found, text_of(view)
    body = {"block_id": found[0], "action_id": found[1]["action_id"], "value": found[1]["value"]}
    return await hall.people.call("POST", f"/people/{editor.name}/views/{view['id']}/actions", body)


def entered(view: Message, **given: Any) -> dict[str, Any]:
    """`state.values` with these fields, by block id (`__` for a dot)."""
    return {name.replace("__", "."): {"value": value} for name, value in given.items()}


async def revision(hall: Hall, run_id: str, number: int) -> Snapshot:
    async def probe() -> Snapshot | None:
        found = await hall.show(run_id)
        return found if found.run.revision == number else None

    return await eventually(probe, f"revision {number} of {run_id}")


async def change(hall: Hall, editor: Person, view: Message, step: str) -> Message:
    """The form of that step."""
    await pick(hall, editor, view, step, "change")
    return await editor.modal("If it fails")


async def test_C022_what_was_edited_is_what_runs_and_both_are_on_record(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    form = await change(hall, editor, view, "two")

    answer = await editor.submit(form["id"], entered(form, arg__name="changed"))

    assert answer["acked"], answer
    listed = await editor.modal("name changed")
    assert "*1 change, not saved yet:* 2 · name changed." in text_of(listed)
    await editor.submit(listed["id"], {})
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert [step.args["name"] for step in after.plan.steps] == ["a", "changed"]
    assert after.revisions[0].plan.step("two").args == {"name": "b"}
    assert after.revisions[1].author == "U0REQUESTER"
    assert await editor.views() == []
    await hall.person("approver").press("Approve", await hall.person("approver").card("#ops", "Approve", run="revision 2"), "#ops")
    ran = await hall.until(run_id, "succeeded")
    assert ran.state("two").args == {"name": "changed"}


async def test_the_old_card_dies_with_the_edit_and_the_editor_does_not_approve_it(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO, by="approver")
    _, card = run_id, await editor.card("#ops", "Approve")
    await pick(hall, editor, view, "one", "break")
    await editor.submit((await editor.modal("pause before it"))["id"], {})
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert after.plan.step("one").breakpoint

    await editor.press("Approve", card, "#ops")
    assert "out of date" in text_of(await editor.told("out of date"))
    await editor.press("Approve", await editor.card("#ops", "Approve", run="revision 2"), "#ops")
    assert "you edited this revision" in text_of(await editor.told("you edited"))
    assert (await hall.show(run_id)).run.status == "in_review"


async def test_a_step_that_others_need_names_them_before_it_goes_with_them(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, CHAIN + "\nlook: test.look name=x")
    await pick(hall, editor, view, "brief", "remove")
    asked = await editor.modal("Remove both")
    assert "3 · Sends a message to #ops needs the result of 2 · " in text_of(asked).replace("\n", "")

    await editor.submit(asked["id"], {})

    listed = await editor.modal("removed")
    assert "2 · removed, 3 · removed" in text_of(listed)
    await editor.submit(listed["id"], {})
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert [(step.id, step.number) for step in after.plan.steps] == [("notes", 1), ("look", 4)]


async def test_steps_change_places_where_neither_needs_the_other_and_else_it_is_said_why(hall: Hall) -> None:
    _, editor, view = await opened(hall, "look: test.look name=x\n" + CHAIN)
    await pick(hall, editor, view, "brief", "up")
    refused = await editor.modal("Not moved")
    assert "Step 3 needs step 2, so it cannot come before it." in text_of(refused)

    await pick(hall, editor, refused, "notes", "up")
    listed = await editor.modal("1 change, not saved yet")
    rows = [block["text"]["text"] for block in listed["blocks"] if block.get("accessory")]
    assert ["2 ·" in rows[0], "1 ·" in rows[1]] == [True, True]
    first, last = ([option["text"]["text"] for option in menu] for menu in _menus(listed))
    assert "Move up" not in first
    assert "Move down" not in last


def _menus(view: Message) -> tuple[list[Any], list[Any]]:
    found = [block["accessory"]["options"] for block in view["blocks"] if block.get("accessory")]
    return found[0], found[-1]


async def test_a_fault_stands_at_its_field_and_nothing_is_changed(hall: Hall) -> None:
    """C022: an invalid edit keeps the form open; a channel is chosen with Slack's picker and kept by name."""
    run_id, editor, view = await opened(hall, CHAIN)
    form = await change(hall, editor, view, "post")
    picker = next(block["element"] for block in form["blocks"] if block.get("block_id") == "arg.channel")
    assert (picker["type"], picker["initial_conversation"]) == ("conversations_select", "C0OPS")

    answer = await editor.submit(form["id"], entered(form, arg__text="{{brif.summary}}", timeout="20"))
    assert answer["response_action"] == "errors"
    assert "did you mean brief?" in answer["errors"]["arg.text"]

    chosen = {"arg.channel": {"value": {"selected_conversation": "C0GENERAL"}}}
    await editor.submit(form["id"], entered(form, arg__text="{{brief.summary}}") | chosen)
    listed = await editor.modal("changed")
    assert "#general" in text_of(listed)
    await editor.submit(listed["id"], {})
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert after.plan.step("post").args == {"channel": "#general", "text": "{{brief.summary}}"}
    assert after.plan.step("post").timeout_s == 20


async def test_c059_what_was_typed_stands_by_its_name_in_the_form_and_in_the_text(hall: Hall) -> None:
    secret = "sk-ant-api03-" + "Zq9" * 12
    run_id, editor, view = await opened(hall, f"one: files.write path=a.md text={secret}\ntwo: test.change name=b")
    assert secret not in str(view)
    form = await change(hall, editor, view, "one")
    assert secret not in str(form)
    await editor.submit(form["id"], entered(form, arg__path="b.md"))
    listed = await editor.modal("path changed")
    assert "text" not in text_of(listed).split("not saved yet:")[1].split("\n")[0]

    await press(hall, editor, listed, "As text")
    text = await editor.modal("notation.1")
    typed = next(block["element"]["initial_value"] for block in text["blocks"] if block.get("block_id") == "notation.1")
    assert "{{secret:TYPED_" in typed
    unknown = await editor.submit(text["id"], entered(text, notation__1=typed.replace("name=b", 'name="{{secret:NOPE}}"')))
    assert "there is no secret NOPE" in str(unknown["errors"])
    await editor.submit(text["id"], entered(text, notation__1=typed.replace("name=b", f"name={secret}")))

    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    (name,) = hall.deps.secrets.names(run_id)
    assert after.plan.step("one").args == {"path": "b.md", "text": f"{{{{secret:{name}}}}}"}
    assert after.plan.step("two").args == {"name": f"{{{{secret:{name}}}}}"}
    assert hall.deps.secrets.value(name, run_id) == secret


async def test_faults_of_a_text_are_told_with_their_line_at_most_two_of_them(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, CHAIN)
    await press(hall, editor, view, "As text")
    text = await editor.modal("notation.1")

    wrong = CHAIN.replace("slack.post_message", "slack.post_mesage").replace("{{notes.text}}", "{{nots.text}}").replace("path", "pth")
    answer = await editor.submit(text["id"], entered(text, notation__1=wrong))

    said = answer["errors"]["notation.1"]
    assert "Line 1: files.read has no argument 'pth'; did you mean path?" in said
    assert said.count("Line ") == 2
    assert said.endswith("more faults")
    answer = await editor.submit(text["id"], entered(text, notation__1=CHAIN + "\nmore: test.look name=x"))
    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert [(step.id, step.number) for step in after.plan.steps] == [("notes", 1), ("brief", 2), ("post", 3), ("more", 4)]
    assert (answer["response_action"], await editor.views()) == ("clear", [])


async def test_a_step_is_added_from_the_menu_or_by_a_line(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    await press(hall, editor, view, "Add a step")
    asked = await editor.modal("Name of the step")
    tools = next(block["element"]["options"] for block in asked["blocks"] if block.get("block_id") == "tool")
    look = next(option["value"] for option in tools if option["text"]["text"] == "test.look")

    answer = await editor.submit(asked["id"], entered(asked, tool=look, id="two", purpose="See it"))
    assert answer["errors"] == {"id": "Step “two” is there already. Give this one another name."}
    await editor.submit(asked["id"], entered(asked, tool=look, id="see"))
    form = await editor.modal("Step 3, new")
    answer = await editor.submit(form["id"], entered(form, arg__name="x") | {"after": {"value": {"selected_options": ["two"]}}})
    listed = await editor.modal("added")

    await press(hall, editor, listed, "Add a step")
    asked = await editor.modal("Name of the step")
    answer = await editor.submit(asked["id"], entered(asked, line="nothing here"))
    assert answer["response_action"] == "errors"
    await editor.submit(asked["id"], entered(asked, line="last: test.look name={{see.name}}"))
    form = await editor.modal("Step 4, new")
    await editor.submit(form["id"], {})
    listed = await editor.modal("3 · added, 4 · added")
    await editor.submit(listed["id"], {})

    after = await revision(hall, run_id, 2)
    assert after.plan is not None
    assert [(step.number, step.needs) for step in after.plan.steps[2:]] == [(3, ("two",)), (4, ("see",))]
    assert after.plan.step("see").purpose == "See it"


async def test_a_step_whose_form_is_left_is_not_added(hall: Hall) -> None:
    _, editor, view = await opened(hall, TWO)
    await press(hall, editor, view, "Add a step")
    asked = await editor.modal("Name of the step")
    await editor.submit(asked["id"], entered(asked, line="see: test.look name=x"))
    form = await editor.modal("Step 3, new")
    await hall.people.call("POST", f"/people/requester/views/{form['id']}/close", {})

    await pick(hall, editor, view, "one", "break")

    listed = await editor.modal("pause before it")
    assert "test.look" not in text_of(listed)


async def test_nothing_changed_is_said_and_makes_no_revision(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    answer = await editor.submit(view["id"], {})
    assert "Nothing is changed yet" in text_of(answer["view"])
    await press(hall, editor, view, "As text")
    text = await editor.modal("notation.1")
    answer = await editor.submit(text["id"], {})
    assert "Nothing is changed in it yet" in answer["errors"]["notation.1"]
    assert (await hall.show(run_id)).run.revision == 1


async def test_a_fault_of_the_whole_plan_stands_on_top_and_at_its_row(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    form = await change(hall, editor, view, "two")
    await editor.submit(form["id"], entered(form, arg__name="a"))
    listed = await editor.modal("*Fault:* it does the same as step one")

    answer = await editor.submit(listed["id"], {})

    assert "*Not saved: 1 fault.*" in text_of(answer["view"])
    assert (await hall.show(run_id)).run.revision == 1


async def test_two_editors_the_second_keeps_the_text_and_sees_what_the_first_did(hall: Hall) -> None:
    run_id, first, view = await opened(hall, TWO)
    second = hall.person("approver")
    await second.press("Edit", await second.card("#ops", "Edit"), "#ops")
    other = await second.modal("Save makes revision")
    await pick(hall, second, other, "two", "break")
    form = await change(hall, first, view, "one")
    await first.submit(form["id"], entered(form, arg__name="mine"))
    await second.submit((await second.modal("pause before it"))["id"], {})
    await revision(hall, run_id, 2)

    answer = await first.submit((await first.modal("name changed"))["id"], {})

    kept = answer["view"]
    assert "<@U0APPROVER> saved revision 2 meanwhile" in text_of(kept)
    typed = next(block["element"]["initial_value"] for block in kept["blocks"] if block["block_id"].startswith("notation"))
    assert "name=mine" in typed
    await first.submit(kept["id"], {})
    after = await revision(hall, run_id, 3)
    assert after.plan is not None
    assert after.plan.step("one").args == {"name": "mine"}
    (recorded,) = await entries(hall, run_id, Event.CLICK_REFUSED)
    assert recorded.data["kind"] == "edit_conflict"


async def test_what_was_approved_meanwhile_is_given_back_as_replies(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, "one: test.gate name=g\ntwo: test.change name=b after=one")
    form = await change(hall, editor, view, "two")
    await editor.submit(form["id"], entered(form, arg__name="late"))
    listed = await editor.modal("name changed")
    approver = hall.person("approver")
    await approver.press("Approve", await approver.card("#ops", "Approve"), "#ops")
    await hall.until(run_id, "running")

    answer = await editor.submit(listed["id"], {})

    assert "revision 1 was approved while you were editing" in text_of(answer["view"])
    assert "instead two: test.change name=late after=one" in text_of(answer["view"])
    assert answer["view"].get("submit") is None


async def test_one_who_may_not_edit_is_told_in_private_and_gets_no_form(hall: Hall) -> None:
    _, card = await reviewed(hall, TWO)
    member = hall.person("member")
    await member.press("Edit", card, "#ops")
    assert "Not edited" in text_of(await member.told("not edited"))
    assert "submit" not in {name for name, value in (await member.modal("Not edited")).items() if value}


async def test_a_form_of_before_a_restart_says_what_to_do(make_hall: MakeHall) -> None:
    """The unsaved plan is on the server: without it, nothing is changed by what was drawn before."""
    hall = await make_hall()
    run_id, editor, view = await opened(hall, TWO)
    desk = Desk(hall.deps, hall.slack)  # another one, as after a restart, knows nothing
    sent = Submission("edit.steps", f"{run_id}.1", "U0REQUESTER", "T0HOME", view["id"], hall.deps.now(), root_view_id=view["id"], view=view)

    answer = await editing.on_saved(desk, sent)

    assert "Pullcord was restarted" in str(answer.ack["view"])
    assert "press *Edit* again" in str(answer.ack["view"])
    text = replace(sent, callback_id="edit.text", values={"notation.1": TWO.replace("name=b", "name=c")})
    assert (await notation_form.on_sent(desk, text)).ack == {"response_action": "clear"}
    after = await hall.show(run_id)
    assert after.plan is not None
    assert after.plan.step("two").args == {"name": "c"}


async def test_where_slack_is_silent_nothing_is_saved_and_the_form_stays_as_it_is(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    await press(hall, editor, view, "As text")
    text = await editor.modal("notation.1")
    hall.slack.directory.forget()
    await hall.spoil(method="users.info", error="internal_error", times=50)

    answer = await editor.submit(text["id"], entered(text, notation__1=TWO.replace("name=b", "name=c")))

    assert "Not taken: Pullcord or Slack is slow just now." in text_of(answer["view"])
    assert answer["view"]["state"]["values"]["notation.1"]["value"]["value"].endswith("name=c")
    assert (await hall.show(run_id)).run.revision == 1
    await hall.people.call("DELETE", "/faults")
    await editor.submit(text["id"], {})
    await revision(hall, run_id, 2)


async def test_a_fault_of_ours_is_told_with_a_number_and_loses_nothing(hall: Hall) -> None:
    run_id, editor, view = await opened(hall, TWO)
    form = await change(hall, editor, view, "two")
    desk = Desk(hall.deps, hall.slack)
    sent = Submission("edit.step", f"{run_id}.1.two", "U0REQUESTER", "T0HOME", form["id"], hall.deps.now(), view=form)

    async def broken() -> Answer:
        raise RuntimeError("a slip")

    answer = await errors.answered(desk, broken(), sent, did="Edit")

    shown = answer.ack["view"]
    assert "It is in the log as F-" in str(shown["blocks"][0])
    assert [block["block_id"] for block in shown["blocks"][1:]] == [block["block_id"] for block in form["blocks"]]
