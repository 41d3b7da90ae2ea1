"""Show all: the whole plan, every argument uncut, in pages that fit a modal; Approve is the submit of the last one.

Pages hold at most ten steps and 20,000 characters. A step that is longer by itself goes on over several pages, since what cannot be read
in full cannot be approved. Which pages a person has opened is kept on the server; this module only draws what it is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bot.core.characters import clusters, cut, utf16
from bot.core.ids import short
from bot.core.plan import Step
from bot.core.references import sources
from bot.core.risk import Level
from bot.core.run import Redirect, RunStatus
from bot.core.wording import late
from handlers.views import arguments, blocks, ids, plan_body, words
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import date, joined, ranges

MOST_STEPS = 10
MOST_CHARACTERS = 20_000
PIECE = 9_000  # of one long argument
MODAL_TITLE = 24

View = dict[str, object]


@dataclass(frozen=True)
class Piece:
    """One step, or a part of a long one."""

    number: int
    block: Block


def page_count(scene: Scene, revision: int | None = None) -> int:
    """How many pages the revision has (the current one, unless the new rest of a redirect is named); at least one."""
    return len(_pages(_under(scene, revision)))


def _under(scene: Scene, revision: int | None) -> Scene:
    """The run under the new rest that a redirect proposes, if that is what is named; else as it is."""
    proposal = scene.snapshot.proposal
    return scene.under(proposal) if proposal is not None and revision == proposal.revision else scene


def show_all(scene: Scene, page: int = 1, *, may_approve: bool = False, opened_all: bool = False, revision: int | None = None) -> View:
    """The modal at that page (counted from 1, kept within bounds).

    Approve is its submit on the last page, for one who `may_approve` and has opened every page (`opened_all`; a single one counts).
    """
    number = scene.run.revision if revision is None else revision
    scene = _under(scene, number)
    if number != scene.run.revision:
        return moved_on(scene, number)
    pages = _pages(scene)
    here = min(max(page, 1), len(pages))
    made: list[Block] = [blocks.context(_place(scene, pages, here)), words.goal(scene), *(piece.block for piece in pages[here - 1])]
    made += _turning(scene, here, len(pages))
    proposed = scene.run.redirect is Redirect.REVIEW and scene.run.proposed == number
    is_open = scene.run.status is RunStatus.IN_REVIEW or proposed
    approves = is_open and may_approve and here == len(pages) and (opened_all or len(pages) == 1)
    made += _closing(scene, pages, here, is_open=is_open, reader=not may_approve, approves=approves)
    return modal(
        callback_id=ids.VIEW_PAGES,
        title=f"All steps of {scene.run.id}",
        made=made,
        metadata=ids.encode(scene.run.id, number),
        submit="Approve" if approves else "",
    )


def moved_on(scene: Scene, revision: int) -> View:
    """The revision that this modal was about has been replaced."""
    newer = scene.run.revision
    value = ids.encode(scene.run.id, newer)
    says = f"*This is revision {revision}. Revision {newer} has replaced it.* Nothing can be approved here."
    opened = blocks.button(ids.REVIEW_SHOW_ALL, value, label=f"Open revision {newer}", about=scene.run.id, style="primary")
    return modal(
        callback_id=ids.VIEW_PAGES,
        title=f"All steps of {scene.run.id}",
        made=[alert(says), *blocks.actions("page:moved", opened)],
        metadata=ids.encode(scene.run.id, revision),
    )


def modal(*, callback_id: str, title: str, made: list[Block], metadata: str = "", submit: str = "", close: str = "Close") -> View:
    """A modal from its parts."""
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": blocks.plain_text(cut(title, MODAL_TITLE)),
        "close": blocks.plain_text(close),
        "blocks": made,
    }
    if submit:
        view["submit"] = blocks.plain_text(submit)
    if metadata:
        view["private_metadata"] = metadata
    return view


def alert(says: str, level: str = "warning") -> Block:
    """A notice in a modal, at most 200 characters."""
    return {"type": "alert", "level": level, "text": blocks.mrkdwn(cut(says, 200))}


def paged(pieces: list[Piece]) -> list[list[Piece]]:
    """The pieces in pages that keep both limits."""
    pages: list[list[Piece]] = [[]]
    room = MOST_CHARACTERS
    for piece in pieces:
        size = blocks.size(piece.block)
        if pages[-1] and (size > room or len(pages[-1]) >= MOST_STEPS):
            pages.append([])
            room = MOST_CHARACTERS
        pages[-1].append(piece)
        room -= size
    return pages


def long_value(number: int, name: str, text: str) -> list[Piece]:
    """A long argument in parts, each with its place among them."""
    parts = list(chunks(text, PIECE))
    return [
        Piece(number, blocks.rich(blocks.line(blocks.strong(f"{number} · {name}, part {place} of {len(parts)}")), blocks.box(part)))
        for place, part in enumerate(parts, start=1)
    ]


def chunks(text: str, limit: int) -> Iterator[str]:
    """The text in parts of at most `limit` units, never cutting a character."""
    kept: list[str] = []
    length = 0
    for cluster in clusters(text):
        if kept and length + utf16(cluster) > limit:
            yield "".join(kept)
            kept, length = [], 0
        kept.append(cluster)
        length += utf16(cluster)
    if kept:
        yield "".join(kept)


def _pages(scene: Scene) -> list[list[Piece]]:
    return paged([piece for step in scene.plan.steps for piece in _pieces(scene, step)])


def _pieces(scene: Scene, step: Step) -> list[Piece]:
    whole = _step(scene, step)
    if blocks.size(whole) <= MOST_CHARACTERS:
        return [Piece(step.number, whole)]
    long = {name: text for name, value in step.args.items() if utf16(text := arguments.readable(value)) > PIECE // 10}
    short_args = {name: value for name, value in step.args.items() if name not in long}
    head = step.model_copy(update={"args": short_args})
    first, _ = plan_body.step_block(scene, head, in_full=True, rules=True)
    late = {name: late(step.args[name], scene.plan) + arguments.consequence(scene, step) for name in long if sources(step.args[name])}
    rest = [piece for name, text in long.items() for piece in long_value(step.number, joined(name, late.get(name, "")), text)]
    return [Piece(step.number, first), *rest]


def _step(scene: Scene, step: Step) -> Block:
    """A low step as one line of notation, any other one as on the card, in full and with the rules that graded it."""
    brief = arguments.notation(scene, step, with_id=True)
    if words.grade_of(scene, step).level is Level.LOW and brief.whole:
        symbol, word = words.RISK[Level.LOW].split(" ", 1)
        title = [blocks.said(f"{symbol} "), blocks.strong(words.numbered(scene, step)), blocks.said(f"  {word}")]
        return blocks.rich(blocks.line(*title), blocks.line(*brief.elements))
    return plan_body.step_block(scene, step, in_full=True, rules=True)[0]


def _place(scene: Scene, pages: list[list[Piece]], here: int) -> str:
    digest = f"digest `{short(scene.run.digest)}`" if scene.run.digest else ""
    if len(pages) == 1:
        return joined(scene.run.id, f"revision {scene.run.revision}", words.step_counts(scene), digest)
    found = {piece.number for piece in pages[here - 1]}
    numbers = f"{'step' if len(found) == 1 else 'steps'} {ranges(found)} of {len(scene.plan.steps)}"
    where = f"page {here} of {len(pages)}"
    return joined(scene.run.id, f"revision {scene.run.revision}", where, numbers, digest)


def _turning(scene: Scene, here: int, total: int) -> list[Block]:
    def turn(action: str, to: int) -> Element:
        value = ids.encode(scene.run.id, scene.run.revision, page=to)
        style = "primary" if action == ids.PAGE_NEXT else ""
        return blocks.button(action, value, about=f"{words.about(scene)}, page {to}", style=style)

    back = turn(ids.PAGE_BACK, here - 1) if here > 1 else None
    following = turn(ids.PAGE_NEXT, here + 1) if here < total else None
    return blocks.actions(f"page:{here}", back, following)


def _closing(scene: Scene, pages: list[list[Piece]], here: int, *, is_open: bool, reader: bool, approves: bool) -> list[Block]:
    if not is_open:
        return [blocks.context("This review is closed; nothing can be approved here.")]
    if reader:
        return [blocks.context(f"Reading only: {scene.approvers_plain} may approve.")]
    if not approves:
        where = "Open every page, then come back to this one: Approve is here." if here == len(pages) else "Approve is on the last page."
        return [blocks.context(where)]
    digest = f" (digest `{short(scene.run.digest)}`)" if scene.run.digest else ""
    until = f", until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    opened = f"You have opened all {len(pages)} pages. " if len(pages) > 1 else ""
    total = len(scene.plan.steps)
    return [
        blocks.divider(),
        blocks.section(f"{opened}*Approve* covers exactly {'this step' if total == 1 else f'these {total} steps'}{digest}{until}."),
    ]
