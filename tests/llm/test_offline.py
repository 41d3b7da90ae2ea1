"""Planning without a model: phrases that are understood, and what is said about those that are not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.catalogue import Catalogue
from bot.core.drafts import Brief, Draft
from bot.core.notation import parse, print_step
from bot.core.validation import validate
from bot.llm.offline import OfflinePlanner
from tests.llm.catalogue import TICKETS, TOOLS


async def draft(ask: str, tools: Catalogue = TOOLS) -> Draft:
    return await OfflinePlanner().draft(Brief(ask=ask, catalogue=tools))


def steps(reply: Draft) -> list[str]:
    """The plan in plain notation, one step a line."""
    assert reply.plan is not None, reply.parts
    return [print_step(step, purposes=False) for step in reply.plan.steps]


READ = "read: files.read path=notes/today.md"
SUM = 'summary: text.summarize text="{{read.text}}"'
LINK = "https://example.slack.com/archives/C0OPS/p1796047200000100"
THREAD = 'thread: slack.read_thread channel=C0OPS thread_ts="1796047200.000100"'
UNDERSTOOD = {
    "read notes/today.md": [READ],
    "open notes/today.md": [READ],
    "show me notes/today.md": [READ],
    "read `notes/today.md`": [READ],
    'Read "my notes/a b.md".': ['read: files.read path="my notes/a b.md"'],
    "please read notes/today.md, thanks!": [READ],
    "Could you please read notes/today.md for me?": [READ],
    "read the file notes": ["read: files.read path=notes"],
    "read README": ["read: files.read path=README"],
    "read notes/été.md": ["read: files.read path=notes/été.md"],
    "read a.md and b.md": ["read: files.read path=a.md", "read2: files.read path=b.md"],
    "list files": ["list: files.list path=."],
    "list files in notes": ["list: files.list path=notes"],
    "list all files in notes matching *.md": ["list: files.list path=notes pattern=*.md"],
    "what files are there in docs?": ["list: files.list path=docs"],
    "list notes/": ["list: files.list path=notes/"],
    'search for "request timeout" in app/': ['search: files.search query="request timeout" path=app/'],
    'search "timeout"': ["search: files.search query=timeout"],
    "search for timeout in app": ["search: files.search query=timeout path=app"],
    'find "a b" in app/config.toml': ['search: files.search query="a b" path=app/config.toml'],
    "find timeout in app/": ["search: files.search query=timeout path=app/"],
    "search app/ for timeout": ["search: files.search query=timeout path=app/"],
    "summarize notes/today.md": [READ, SUM],
    "summarise notes/today.md in two sentences": [READ, SUM + " sentences=2"],
    "sum up #ops": ["messages: slack.read_channel channel=#ops", 'summary: text.summarize text="{{messages.text}}"'],
    "read notes/today.md, then summarize it": [READ, SUM],
    "Read notes/today.md and summarize it.": [READ, SUM],
    "read notes/today.md; summarize that": [READ, SUM],
    "read notes/today.md. Then summarize the file.": [READ, SUM],
    "1. read notes/today.md\n2. summarize it": [READ, SUM],
    "- read notes/today.md\n- summarize it": [READ, SUM],
    "read notes/today.md, then summarize it, then post the summary to #ops": [
        READ,
        SUM,
        'post: slack.post_message channel=#ops text="{{summary.summary}}"',
    ],
    "read notes/today.md, summarize it, and post it to #ops": [
        READ,
        SUM,
        'post: slack.post_message channel=#ops text="{{summary.summary}}"',
    ],
    "post a summary of notes/today.md to #ops": [
        READ,
        SUM,
        'post: slack.post_message channel=#ops text="{{summary.summary}}"',
    ],
    "summarize notes/today.md and tell #ops the summary": [
        READ,
        SUM,
        'post: slack.post_message channel=#ops text="{{summary.summary}}"',
    ],
    "write a summary of notes/today.md to out.md": [READ, SUM, 'save: files.write path=out.md text="{{summary.summary}}"'],
    "read notes/today.md, summarize it, save it as out.md": [READ, SUM, 'save: files.write path=out.md text="{{summary.summary}}"'],
    "read notes/today.md then save to copy.md": [READ, 'save: files.write path=copy.md text="{{read.text}}"'],
    "read a.md, read b.md, then summarize them": [
        "read: files.read path=a.md",
        "read2: files.read path=b.md",
        'summary: text.summarize text="{{read.text}}\\n\\n{{read2.text}}"',
    ],
    'write "hello there" to notes/new.md': ['save: files.write path=notes/new.md text="hello there"'],
    "create notes/new.md with “x: 1”": ['save: files.write path=notes/new.md text="x: 1"'],
    "delete notes/old.md": ["delete: files.delete path=notes/old.md"],
    "remove the file old": ["delete: files.delete path=old"],
    'write "x" to a.md, then delete it': ["save: files.write path=a.md text=x", "delete: files.delete path=a.md after=save"],
    "fetch https://x.example/a?b=1": ["fetch: web.fetch url=https://x.example/a?b=1"],
    "look at https://x.example/a.": ["fetch: web.fetch url=https://x.example/a"],
    "get <https://x.example/a?b=1&amp;c=2|the page>": ["fetch: web.fetch url=https://x.example/a?b=1&c=2"],
    "fetch https://x.example/a and post the page to #ops": [
        "fetch: web.fetch url=https://x.example/a",
        'post: slack.post_message channel=#ops text="{{fetch.text}}"',
    ],
    'post "Hello. How are you?" to #general': ['post: slack.post_message channel=#general text="Hello. How are you?"'],
    'say "hi" in <#C123|ops>': ["post: slack.post_message channel=#ops text=hi"],
    'send "hi" to <#C123>': ["post: slack.post_message channel=C123 text=hi"],
    "post “早安” to #日本語": ["post: slack.post_message channel=#日本語 text=早安"],
    "tell #ops that the build is green": ['post: slack.post_message channel=#ops text="The build is green"'],
    'tell #ops "done"': ["post: slack.post_message channel=#ops text=done"],
    "post to #general: all is well": ['post: slack.post_message channel=#general text="All is well"'],
    "read #ops": ["messages: slack.read_channel channel=#ops"],
    f"read the thread {LINK}, then summarize it": [THREAD, 'summary: text.summarize text="{{thread.text}}"'],
    f"read {LINK}?thread_ts=1796047200.000100&cid=C0OPS": [THREAD],
    f"summarize <{LINK}>": [THREAD, 'summary: text.summarize text="{{thread.text}}"'],
    "wait 30 seconds": ["wait: time.wait seconds=30"],
    "wait for 5 minutes": ["wait: time.wait seconds=300"],
    "wait a minute, then tell #ops that it is time": [
        "wait: time.wait seconds=60",
        'post: slack.post_message channel=#ops text="It is time" after=wait',
    ],
    "what time is it?": ["time: time.now"],
    "what time is it, then post it to #ops": ["time: time.now", 'post: slack.post_message channel=#ops text="{{time.iso}}"'],
    'search for "x" in app/, then post the matches to #ops': [
        "search: files.search query=x path=app/",
        'post: slack.post_message channel=#ops text="Matches:\\n{{search.matches}}"',
    ],
    "list files, then post the list to #ops": [
        "list: files.list path=.",
        'post: slack.post_message channel=#ops text="Files:\\n{{list.files}}"',
    ],
}


@pytest.mark.parametrize("ask", UNDERSTOOD)
async def test_phrase_becomes_the_plan(ask: str) -> None:
    reply = await draft(ask)
    assert steps(reply) == UNDERSTOOD[ask]
    assert reply.plan is not None
    assert validate(reply.plan, TOOLS) == []
    assert all(part.understood and not part.note for part in reply.parts)


NOT_UNDERSTOOD = {
    "read notes/today.md, then frobnicate it": (["then frobnicate it"], ""),
    "let #ops know that we ship, then wait": (["then wait"], ""),
    "post hello to #general": (["post hello to #general"], 'post "hello" to #general'),
    "fetch example.com": (["fetch example.com"], "fetch https://example.com"),
    "don't delete a.md": (["don't delete a.md"], ""),
    "delete a.md, but not b.md": (["but not b.md"], ""),
    "delete a.md unless it is empty": (["delete a.md unless it is empty"], ""),
    "if a.md is empty then delete it": (["if a.md is empty", "then delete it"], ""),
    "post the summary of a.md to #ops tomorrow": (["post the summary of a.md to #ops tomorrow"], ""),
    "read carefully": (["read carefully"], ""),
    "read the thread": (["read the thread"], ""),
    "search for everything that matters": (["search for everything that matters"], 'search for "everything that matters"'),
    "Supprime les branches périmées du dépôt « été » 🧹": (["Supprime les branches périmées du dépôt « été » 🧹"], ""),
    "古いファイルを消して": (["古いファイルを消して"], ""),
    "احذف الملف القديم": (["احذف الملف القديم"], ""),
}


@pytest.mark.parametrize("ask", NOT_UNDERSTOOD)
async def test_one_part_that_is_not_understood_means_no_plan(ask: str) -> None:
    lost, suggestion = NOT_UNDERSTOOD[ask]
    reply = await draft(ask)
    assert reply.plan is None
    assert [part.words for part in reply.parts if not part.understood or part.note] == lost
    assert reply.suggestion
    assert not suggestion or reply.suggestion == suggestion
    assert (await draft(reply.suggestion)).plan is not None


async def test_each_part_says_how_it_was_read_and_what_it_lacks() -> None:
    reply = await draft("read notes/today.md, then frobnicate it, then post the summary to #ops")
    read, lost, post = reply.parts
    assert (read.understood, read.notation) == (True, "files.read path=notes/today.md")
    assert (lost.understood, lost.words) == (False, "then frobnicate it")
    assert lost.closest == ("text.summarize", "slack.post_message")
    assert (post.understood, post.notation, post.note) == (True, "slack.post_message channel=#ops", "needs a summary first")
    assert reply.suggestion == "read notes/today.md, then summarize it, then post the summary to #ops"


async def test_pronoun_without_anything_before_is_understood_and_is_no_plan() -> None:
    reply = await draft("summarize it")
    assert reply.plan is None
    assert [(part.understood, part.note) for part in reply.parts] == [(True, "needs something to summarize first")]


async def test_closest_tools_are_named_by_words_of_name_and_description() -> None:
    reply = await draft("shorten a.md", TOOLS)
    assert "text.summarize" in reply.parts[0].closest


async def test_purpose_is_in_the_words_of_the_person_and_goal_is_the_ask() -> None:
    reply = await draft("Read notes/today.md, then post it to #ops")
    assert reply.plan is not None
    assert [step.purpose for step in reply.plan.steps] == ["Read notes/today.md", "post it to #ops"]
    assert reply.plan.goal == "Read notes/today.md, then post it to #ops"


async def test_long_ask_gives_a_goal_and_purposes_that_fit() -> None:
    reply = await draft(f"tell #ops that {'the build is green ' * 40}")
    assert reply.plan is not None
    assert len(reply.plan.goal) <= 230
    assert len(reply.plan.steps[0].purpose) <= 120
    assert len(reply.plan.steps[0].args["text"]) > 600


async def test_only_tools_of_the_catalogue_are_planned() -> None:
    fewer = {name: one for name, one in TOOLS.items() if name != "files.delete"}
    reply = await draft("delete a.md", fewer)
    assert reply.plan is None
    assert "files.delete" not in reply.parts[0].closest
    assert "not to be had here" in reply.parts[0].note


async def test_bot_without_built_in_tools_suggests_plain_notation() -> None:
    reply = await draft("read a.md", TICKETS)
    assert reply.plan is None
    assert reply.suggestion == 'jira.close key="…"'


async def test_effects_keep_their_place_and_reads_may_run_together() -> None:
    reply = await draft('read a.md, read b.md, then write "x" to c.md, then read d.md')
    assert reply.plan is not None
    assert [step.depends_on for step in reply.plan.steps] == [(), (), ("read", "read2"), ("save",)]


async def test_plain_notation_is_taken_as_it_is() -> None:
    text = 'config: files.read path=app/config.toml\npost: slack.post_message channel=#ops text="{{config.text}}" !break'
    reply = await draft(text)
    assert reply.plan is not None
    assert reply.plan.steps == parse(text).steps
    assert reply.raw == text


async def test_several_notation_steps_may_stand_on_one_line() -> None:
    reply = await draft("files.read path=a.md; files.read path=b.md")
    assert [step.id for step in reply.plan.steps] == ["s1", "s2"] if reply.plan else reply.faults


async def test_fault_in_notation_is_told_line_by_line() -> None:
    reply = await draft("files.read path=a.md\npost: slack.post_message channel\nfiles.read path=b.md")
    assert reply.plan is None
    assert [fault.field for fault in reply.faults] == ["line 2"]
    assert [part.understood for part in reply.parts] == [True, False, True]
    assert reply.parts[1].note


async def test_thanks_alone_is_nothing_to_do() -> None:
    reply = await draft("thanks!")
    assert reply.plan is None
    assert reply.parts[0].note == "nothing to do was said"


async def test_endless_ask_is_not_read_without_a_model() -> None:
    reply = await draft("read a.md and " * 2000)
    assert reply.plan is None
    assert "too long" in reply.parts[0].note


WORDS = st.sampled_from(
    ["read", "summarize", "it", "post", "to", "#ops", "a.md", "then", "and", "https://x.example"]
    + [",", ".", ";", "\n", '"x y"', "“", "'", "<", ">", "{{", "}}"]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=25).map(" ".join)))
async def test_no_text_makes_the_planner_raise(ask: str) -> None:
    reply = await draft(ask)
    assert reply.plan is not None or reply.parts or reply.faults
    if reply.plan is None and not reply.faults:
        assert (await draft(reply.suggestion)).plan is not None
