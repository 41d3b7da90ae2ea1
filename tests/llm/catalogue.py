"""The built-in tools as the planners see them, and a made-up one that they have no phrases for."""

from typing import Any

from bot.core.catalogue import Catalogue, Effect, ToolSpec


def spec(name: str, effect: str, description: str, result: dict[str, Any] | None = None, **args: Any) -> ToolSpec:
    """A tool; an argument whose name ends in `_` is optional."""
    properties = {key.rstrip("_"): {"type": kind} if isinstance(kind, str) else kind for key, kind in args.items()}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key in args if not key.endswith("_")],
        "additionalProperties": False,
    }
    results = {"type": "object", "properties": {key: {"type": kind} for key, kind in (result or {}).items()}}
    return ToolSpec(name=name, description=description, effect=Effect(effect), args_schema=schema, result_schema=results)


HEADERS = {"anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "null"}], "default": None}
METHOD = {"enum": ["GET", "POST"], "type": "string"}
TOOLS: Catalogue = {
    one.name: one
    for one in (
        spec("files.list", "read", "List files in a folder.", {"files": "array"}, path_="string", pattern_="string"),
        spec("files.read", "read", "Read a text file.", {"text": "string", "lines": "integer"}, path="string"),
        spec("files.search", "read", "Find words in files.", {"matches": "array"}, query="string", path_="string"),
        spec("files.write", "write", "Write a whole file.", {"path": "string"}, path="string", text="string"),
        spec("files.delete", "delete", "Delete a file.", {"path": "string"}, path="string"),
        spec("web.fetch", "read", "Fetch a page from the web.", {"status": "integer", "title": "string", "text": "string"}, url="string"),
        spec("http.request", "execute", "Send any request.", None, method=METHOD, url="string", headers_=HEADERS, json_={}),
        spec("slack.post_message", "send", "Send a message to a channel.", {"ts": "string"}, channel="string", text="string"),
        spec("slack.read_channel", "read", "Read what was said in a channel.", {"text": "string"}, channel="string", limit_="integer"),
        spec("slack.read_thread", "read", "Read a thread.", {"text": "string"}, channel="string", thread_ts="string"),
        spec("text.summarize", "read", "Make a text shorter.", {"summary": "string"}, text="string", sentences_="integer"),
        spec("time.wait", "read", "Wait.", {"waited_s": "number"}, seconds="number"),
        spec("time.now", "read", "Tell the time.", {"iso": "string"}),
    )
}
TICKETS: Catalogue = {"jira.close": spec("jira.close", "write", "Close a ticket.", key="string", resolution_="string")}
