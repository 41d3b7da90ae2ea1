"""The phrases themselves: a table of patterns, each with the steps that it means.

A rule gets the match and the scene and gives back the scene with its steps. Order matters: the first pattern that fits the whole clause is
taken. `read` gives None where none fits; a rule raises `NotRead` where the clause is clear but cannot become a step as it stands.
"""

import re
from collections.abc import Callable, Sequence

from bot.llm.everyday.clauses import QUOTED, split_weakly, unquoted
from bot.llm.everyday.places import CHANNEL, channel_of, looks_like_host
from bot.llm.everyday.scene import NotRead, Scene
from bot.llm.everyday.things import opened, path_of, summarized, text_of

Match = re.Match[str]
Rule = Callable[[Match, Scene], Scene]
CH = rf"(?:the )?(?:channel )?(?P<channel>{CHANNEL})(?: channel)?"
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
UNITS = {"s": 1, "m": 60, "h": 3600}
WORDS_LIMIT = 60  # characters of an unquoted search


def read(clause: str, scene: Scene) -> Scene | None:
    """The scene with the steps that the clause means; None if no phrase fits. Raises `NotRead`."""
    for pattern, rule in PHRASES:
        if match := pattern.fullmatch(clause):
            return rule(match, scene)
    return None


def _read(match: Match, scene: Scene) -> Scene:
    for place in split_weakly(match["places"]):
        scene = opened(_whole_address(place), scene)
    return scene


def _whole_address(place: str) -> str:
    if looks_like_host(place):
        raise NotRead(f"say the address in full: https://{place}", try_instead=f"fetch https://{place}")
    return place


def _list(match: Match, scene: Scene) -> Scene:
    path = unquoted(match["path"]) if match["path"] else "."
    pattern = unquoted(match["pattern"]) if match["pattern"] else None
    return scene.add("files.list", "list", path=path, pattern=pattern)


def _list_place(match: Match, scene: Scene) -> Scene:
    return scene.add("files.list", "list", path=path_of(match["path"]))


def _search(match: Match, scene: Scene) -> Scene:
    query = match["query"].strip()
    plain = not re.fullmatch(QUOTED, query)
    if plain and (" " in query or len(query) > WORDS_LIMIT):
        raise NotRead('put the words to search for in "quotes"', try_instead=f'search for "{query}"')
    anywhere = match["path"] is None or match["path"].casefold() in ("files", "the files")
    return scene.add("files.search", "search", query=unquoted(query), path=None if anywhere else unquoted(match["path"]))


def _summarize(match: Match, scene: Scene) -> Scene:
    return summarized(match["thing"] or "it", scene, sentences=_whole(match["count"]))


def _summary_of(match: Match, scene: Scene) -> Scene:
    scene = summarized(match["thing"], scene, sentences=_whole(match["count"]))
    if not match["path"]:
        return scene
    return scene.add("files.write", "save", path=path_of(match["path"]), text=scene.result(scene.steps[-1]))


def _write(match: Match, scene: Scene) -> Scene:
    path = path_of(match["path"])
    scene, text = text_of(match["thing"] or "it", scene, verb="save", notation=f"files.write path={path}")
    return scene.add("files.write", "save", path=path, text=text)


def _delete(match: Match, scene: Scene) -> Scene:
    for place in split_weakly(match["places"]):
        scene = scene.add("files.delete", "delete", path=path_of(place))
    return scene


def _delete_it(_: Match, scene: Scene) -> Scene:
    """ "delete it" right after a file was read or written means that file, and nothing else."""
    step = scene.steps[-1] if scene.steps else None
    if step is None or step.tool not in ("files.read", "files.write"):
        raise NotRead("which file? Say its path, such as notes/today.md", notation="files.delete")
    return scene.add("files.delete", "delete", path=step.args["path"])


def _post(match: Match, scene: Scene) -> Scene:
    channel = channel_of(match["channel"]) or ""
    try:
        scene, text = text_of(match["thing"] or "it", scene, verb="post", notation=f"slack.post_message channel={channel}")
    except NotRead as lack:
        if lack.try_instead:
            lack.try_instead = f"post {lack.try_instead} to {channel}"
        raise
    return scene.add("slack.post_message", "post", channel=channel, text=text)


def _tell(match: Match, scene: Scene) -> Scene:
    words = unquoted(match["text"])
    return scene.add("slack.post_message", "post", channel=channel_of(match["channel"]), text=words[:1].upper() + words[1:])


def _thread(_: Match, scene: Scene) -> Scene:
    return opened("the thread", scene)


def _wait(match: Match, scene: Scene) -> Scene:
    seconds = _number(match["count"]) * UNITS[match["unit"][0].casefold()]
    return scene.add("time.wait", "wait", seconds=int(seconds) if seconds.is_integer() else seconds)


def _now(_: Match, scene: Scene) -> Scene:
    return scene.add("time.now", "time")


def _number(word: str) -> float:
    return float(NUMBERS.get(word.casefold()) or word)


def _whole(word: str | None) -> int | None:
    return max(1, int(_number(word))) if word else None


def _phrases(*table: tuple[str, Rule]) -> Sequence[tuple[re.Pattern[str], Rule]]:
    return tuple((re.compile(pattern, re.IGNORECASE | re.DOTALL), rule) for pattern, rule in table)


COUNT = r"(?P<count>\d{1,5}(?:\.\d{1,2})?|an?|one|two|three|four|five|six|ten)"
SENTENCES = rf"(?: in (?:about )?{COUNT} sentences?)?"
FILES = rf"(?:the folder )?(?P<path>(?:the )?files|{QUOTED}|\S+)"
INTO = rf"(?P<path>(?:the file |a (?:new )?file (?:called |named )?)?(?:{QUOTED}|\S+))"
PHRASES = _phrases(
    (r"(?:what time is it|what(?:'s|’s| is) the time|tell me the time|(?:get|check|show)(?: me)? the time)(?: now)?", _now),
    (rf"(?:wait|sleep)(?: for)? {COUNT} ?(?P<unit>seconds?|secs?|s|minutes?|mins?|m|hours?|h)", _wait),
    (
        r"(?:(?:list|show|see)(?: me)?|what(?: are)?) (?:all )?(?:of )?(?:the )?files(?: are there)?"
        rf"(?: (?:in|under|of) (?P<path>{QUOTED}|\S+))?(?: (?:matching|like|named|called) (?P<pattern>{QUOTED}|\S+))?",
        _list,
    ),
    (r"list (?:the )?(?:folder |directory )?(?P<path>\S+)", _list_place),
    (r"search (?P<path>the files|files|\S*[/.]\S*) for (?P<query>.+)", _search),
    (rf"(?:search|grep|find|look)(?: for)? (?P<query>{QUOTED})(?: in {FILES})?", _search),
    (rf"(?:search for|search|grep(?: for)?) (?P<query>.+?)(?: in {FILES})?", _search),
    (r"find (?P<query>\S+) in (?P<path>(?:the )?files|\S*[/.]\S*)", _search),
    (rf"(?:summari[sz]e|sum up)(?: (?P<thing>.+?))?{SENTENCES}", _summarize),
    (
        rf"(?:write|make|give me|create) (?:a (?:short |brief )?)?summary of (?P<thing>.+?){SENTENCES}(?: (?:to|into|as|in) {INTO})?",
        _summary_of,
    ),
    (r"(?:delete|remove|erase) (?:it|that|this|the file)", _delete_it),
    (r"(?:delete|remove|erase) (?P<places>.+)", _delete),
    (rf"let {CH} know (?:that )?(?P<text>.+)", _tell),
    (rf"(?:tell|inform|notify|message) {CH}(?: that|:|,) ?(?P<text>.+)", _tell),
    (rf"(?:post|send|say|write) (?:to|in|on) {CH}(?: that|:) ?(?P<text>.+)", _tell),
    (rf"(?:post|send|say|write) (?:to|in|on) {CH} (?P<thing>.+)", _post),
    (rf"(?:tell|send|message|show) {CH} (?P<thing>.+)", _post),
    (rf"(?:post|send|tell|say|share|put|write|announce)(?: (?P<thing>.+?))? (?:to|in|on|into|with) {CH}", _post),
    (rf"(?:write|save|store|put|export)(?: (?P<thing>.+?))? (?:to|as|in|into) {INTO}", _write),
    (rf"(?:write|create|save) {INTO} (?:with|containing)(?: the text)? (?P<thing>.+)", _write),
    (r"(?:read|show|open|look at|get|fetch|see)(?: me)? (?:the|this) thread", _thread),
    (r"(?:read|show|open|print|cat|display|look at|see|fetch|get|visit|download|browse)(?: me)? (?P<places>.+)", _read),
)
