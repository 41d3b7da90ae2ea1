"""What "it", "the summary", "a summary of notes/today.md" or a text in quotes stands for, given the scene.

Nothing is guessed: what might be no file is no file, and words without quotes are no text. `NotRead` says what would help.
"""

import re

from bot.core.plan import Step
from bot.llm.everyday.clauses import QUOTED, split_weakly, unquoted
from bot.llm.everyday.places import channel_of, is_path, thread_of, url_of
from bot.llm.everyday.scene import TEXTS, NotRead, Scene

NAMED = {
    "summary": ("text.summarize",),
    "page": ("web.fetch",),
    "file": ("files.read",),
    "contents": ("files.read", "web.fetch"),
    "list": ("files.list",),
    "matches": ("files.search",),
    "messages": ("slack.read_channel", "slack.read_thread"),
    "time": ("time.now",),
    "text": tuple(TEXTS),
}
NAMES = {
    **dict.fromkeys(("match", "matches", "hits", "findings", "search results"), "matches"),
    **dict.fromkeys(("messages", "message", "channel", "conversation", "discussion"), "messages"),
    **dict.fromkeys(("content", "contents"), "contents"),
    **dict.fromkeys(("list", "files", "file list", "list of files"), "list"),
    **dict.fromkeys(("text", "texts", "result", "results", "output", "answer", "note", "notes"), "text"),
    **{word: word for word in ("summary", "page", "file", "time")},
    **{"summaries": "summary", "web page": "page", "article": "page", "website": "page"},
}
PRONOUN = re.compile(r"(?:it|that|this|them|these|those|both|all of (?:it|them))", re.IGNORECASE)
THE = re.compile(r"(?:the|that|this|these|those|its|their|my|our) (?:whole |short |full )?(?P<name>[a-z]+(?: [a-z]+){0,2})", re.IGNORECASE)
SUMMARY_OF = re.compile(r"(?:(?:a|the|one) )?(?:short |brief |quick )?summary of (?P<thing>.+)", re.IGNORECASE | re.DOTALL)
CONTENTS_OF = re.compile(r"the (?:contents?|text) of (?P<path>.+)", re.IGNORECASE)
THE_THREAD = re.compile(r"(?:the|this) thread", re.IGNORECASE)
THREAD_WORDS = re.compile(r"^(?:the |this )?(?:thread|conversation|message)(?: at| of)? (?=<?https?:)", re.IGNORECASE)
FILE_WORD = re.compile(r"^(?:the )?(?:file|document|doc) (?=\S)", re.IGNORECASE)


def text_of(thing: str, scene: Scene, *, verb: str, notation: str = "") -> tuple[Scene, str]:
    """What "it", "the summary", "a summary of PATH" or a quoted text stands for, and the scene with the steps that this takes."""
    thing = thing.strip()
    if re.fullmatch(QUOTED, thing):
        return scene, unquoted(thing)
    if match := SUMMARY_OF.fullmatch(thing):
        scene = summarized(match["thing"], scene)
        return scene, scene.result(scene.steps[-1])
    if match := CONTENTS_OF.fullmatch(thing):
        scene = opened(match["path"], scene)
        return scene, scene.result(scene.steps[-1])
    if PRONOUN.fullmatch(thing):
        return scene, _pronoun(thing, scene, verb=verb, notation=notation)
    match = THE.fullmatch(thing)
    kind = NAMES.get(match["name"].casefold()) if match else None
    if not kind:
        raise NotRead('put the words in "quotes", or say "it" for the last result', try_instead=f'"{unquoted(thing)}"')
    step = scene.last(NAMED[kind])
    if not step:
        raise NotRead(f"needs {_a(kind)} first", notation=notation)
    return scene, scene.result(step)


def _pronoun(word: str, scene: Scene, *, verb: str, notation: str) -> str:
    """The last result as text; "them" after several reads in a row means all of these."""
    step = scene.last(tuple(TEXTS))
    if not step:
        raise NotRead(f"needs something to {verb} first", notation=notation)
    together: list[Step] = []
    for earlier in reversed(scene.steps):
        if earlier.tool != step.tool or step.tool not in ("files.read", "web.fetch", "text.summarize"):
            break
        together.insert(0, earlier)
    plural = word.casefold() not in ("it", "that", "this", "all of it")
    return "\n\n".join(scene.result(one) for one in together) if plural and together else scene.result(step)


def _a(kind: str) -> str:
    words = {"matches": "matches", "messages": "messages", "contents": "a file", "time": "the time", "text": "a result"}
    return words.get(kind, f"a {kind}")


def opened(place: str, scene: Scene) -> Scene:
    """The scene with a read of a file, an address or a channel."""
    place = place.strip()
    if url := url_of(THREAD_WORDS.sub("", place)):
        thread = thread_of(url)
        return scene.add("slack.read_thread", "thread", **thread) if thread else scene.add("web.fetch", "fetch", url=url)
    if channel := channel_of(place):
        return scene.add("slack.read_channel", "messages", channel=channel)
    if THE_THREAD.fullmatch(place):
        raise NotRead("which thread? Copy the link of its first message: read the thread https://…")
    return scene.add("files.read", "read", path=path_of(place))


def path_of(place: str) -> str:
    """The path that the words name; `NotRead` if they might be something else."""
    bare = FILE_WORD.sub("", place.strip())
    named = bool(re.fullmatch(QUOTED, bare)) or (bare != place.strip() and " " not in bare)
    path = unquoted(bare)
    if path and (is_path(path) or named):
        return path
    raise NotRead("which file? Say its path, such as notes/today.md")


def summarized(thing: str, scene: Scene, *, sentences: int | None = None) -> Scene:
    """The scene with a summary of a result, a file, an address or a channel (which is read first)."""
    thing = thing.strip()
    if PRONOUN.fullmatch(thing) or (THE.fullmatch(thing) and not THE_THREAD.fullmatch(thing) and not FILE_WORD.match(thing)):
        scene, text = text_of(thing, scene, verb="summarize", notation="text.summarize")
    elif THE_THREAD.fullmatch(thing) and (step := scene.last(("slack.read_thread",))):
        text = scene.result(step)
    else:
        first = len(scene.steps)
        for place in split_weakly(thing):
            scene = opened(place, scene)
        text = "\n\n".join(scene.result(step) for step in scene.steps[first:])
    return scene.add("text.summarize", "summary", text=text, sentences=sentences)
