"""The values of a view's or message's inputs: what they begin with, what a person has entered, what is still missing.

`state.values` is `{block_id: {action_id: {"type": …, "value"/"selected_…": …}}}` as Slack has it, with an entry for every input, an empty
one too.
"""

from typing import Any

from bot.workspace.block_kit.limits import parts
from bot.workspace.records import Json
from bot.workspace.wire import SlackError

# by element type: the name of the value, the name of the value that it begins with, and what stands for nothing
ENTRIES: dict[str, tuple[str, str, Any]] = {
    "plain_text_input": ("value", "initial_value", None),
    "number_input": ("value", "initial_value", None),
    "email_text_input": ("value", "initial_value", None),
    "url_text_input": ("value", "initial_value", None),
    "rich_text_input": ("rich_text_value", "initial_value", None),
    "static_select": ("selected_option", "initial_option", None),
    "external_select": ("selected_option", "initial_option", None),
    "radio_buttons": ("selected_option", "initial_option", None),
    "users_select": ("selected_user", "initial_user", None),
    "conversations_select": ("selected_conversation", "initial_conversation", None),
    "channels_select": ("selected_channel", "initial_channel", None),
    "datepicker": ("selected_date", "initial_date", None),
    "timepicker": ("selected_time", "initial_time", None),
    "datetimepicker": ("selected_date_time", "initial_date_time", None),
    "checkboxes": ("selected_options", "initial_options", []),
    "multi_static_select": ("selected_options", "initial_options", []),
    "multi_external_select": ("selected_options", "initial_options", []),
    "multi_users_select": ("selected_users", "initial_users", []),
    "multi_conversations_select": ("selected_conversations", "initial_conversations", []),
    "multi_channels_select": ("selected_channels", "initial_channels", []),
    "file_input": ("files", "", []),
}


def inputs(blocks: list[Json]) -> list[tuple[Json, Json]]:
    """Each element that holds a value, with its block, in order."""
    every = ((block, element) for block in blocks for _, element in parts(block))
    return [(block, element) for block, element in every if element.get("type") in ENTRIES and "action_id" in element]


def initial(blocks: list[Json]) -> Json:
    """The values that these blocks begin with."""
    values: Json = {}
    for block, element in inputs(blocks):
        name, begins, nothing = ENTRIES[element["type"]]
        values.setdefault(block["block_id"], {})[element["action_id"]] = {"type": element["type"], name: element.get(begins, nothing)}
    return values


def carried_over(blocks: list[Json], before: Json) -> Json:
    """The values of an updated view: what was entered stays where block id, action id and type are the same."""
    values = initial(blocks)
    for block_id, entries in values.items():
        for action_id, entry in entries.items():
            entered = before.get(block_id, {}).get(action_id)
            if entered is not None and entered["type"] == entry["type"]:
                entries[action_id] = entered
    return values


def entered(blocks: list[Json], current: Json, given: Json) -> Json:
    """The current values with those that a person enters now.

    Raises SlackError invalid_values where something is entered that these blocks do not ask for: a slip of the script that enters it.
    """
    values = {block_id: dict(entries) for block_id, entries in current.items()}
    by_id = {(block["block_id"], element["action_id"]): element for block, element in inputs(blocks)}
    for block_id, entries in given.items():
        for action_id, entry in entries.items():
            element = by_id.get((block_id, action_id))
            if element is None:
                known = ", ".join("/".join(each) for each in sorted(by_id))
                raise SlackError("invalid_values", detail=f"there is no input {block_id}/{action_id}; there are: {known}")
            values.setdefault(block_id, {})[action_id] = _entry(element, entry)
    return values


def _entry(element: Json, given: Any) -> Json:
    name, _, nothing = ENTRIES[element["type"]]
    value = given.get(name, given.get("value", nothing)) if isinstance(given, dict) else given
    if name == "selected_option" and value is not None:
        value = option(element, value)
    if name == "selected_options":
        value = [option(element, each) for each in value or []]
    return {"type": element["type"], name: value if value != "" else nothing}


def option(element: Json, wanted: Any) -> Json:
    """The element's own option of that value; an option that it does not have (any more) is taken as given."""
    value = wanted.get("value") if isinstance(wanted, dict) else wanted
    groups = [element.get("options") or [], *(group["options"] for group in element.get("option_groups") or [])]
    found: Json | None = next((each for group in groups for each in group if each["value"] == value), None)
    if found is not None:
        return found
    if isinstance(wanted, dict):
        return wanted
    return {"text": {"type": "plain_text", "text": str(wanted), "emoji": True}, "value": str(wanted)}


def missing(blocks: list[Json], values: Json) -> dict[str, str]:
    """By block id: why Slack's client would not even send this form."""
    faults: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        value = values[block["block_id"]][element["action_id"]][ENTRIES[element["type"]][0]]
        if value in (None, "", []):
            if not block.get("optional"):
                faults[block["block_id"]] = "Please complete this required field."
        elif complaint := _complaint(element, value):
            faults[block["block_id"]] = complaint
    return faults


def _complaint(element: Json, value: Any) -> str:
    if element["type"] == "plain_text_input":
        if len(value) < element.get("min_length", 0):
            return f"Please enter at least {element['min_length']} characters."
        if len(value) > element.get("max_length", 3000):
            return f"Please enter at most {element.get('max_length', 3000)} characters."
    if element["type"] == "number_input":
        return _number_complaint(element, str(value))
    return ""


def _number_complaint(element: Json, value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and not number.is_integer():
        return "Please enter a whole number."
    if "min_value" in element and number < float(element["min_value"]):
        return f"Please enter at least {element['min_value']}."
    if "max_value" in element and number > float(element["max_value"]):
        return f"Please enter at most {element['max_value']}."
    return ""
