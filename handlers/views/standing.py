"""The parts that every card of a run that stands is made of: head, body, the row of moves, a line below it."""

from bot.core.plan import Step
from bot.core.run import Hold
from handlers.views import blocks, freeze, ids, words
from handlers.views.scene import OFFER_BREAKPOINT, OFFER_CHANGE_REST, Block, Card, Element, Scene


def card(
    scene: Scene,
    header: str,
    text: str,
    body: list[Block],
    pressed: list[Element | None],
    foot: Block | None = None,
    about: str | None = None,
) -> Card:
    """A card of a standing run; `about` takes the place of who approved it on the id line. While all is frozen nothing on it lets go."""
    frozen = "" if scene.run.reason is Hold.FREEZE else freeze.in_brief(scene)
    made = [
        blocks.header(header),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene) if about is None else about),
        *body,
        *([blocks.context(frozen)] if frozen else []),
        *blocks.actions(f"run:{scene.run.id}.{scene.run.version}", *(one for one in pressed if one and not (frozen and _lets_go(one)))),
        *([foot] if foot else []),
    ]
    return Card(text, made)


LETTING_GO = frozenset(
    {ids.RUN_RESUME, ids.RUN_CONTINUE, ids.RUN_RETRY, ids.RUN_SKIP, ids.RUN_HAPPENED, ids.RUN_NOT_HAPPENED, ids.RUN_NEVER_MIND}
)


def _lets_go(button: Element) -> bool:
    return button.get("action_id") in LETTING_GO


def press(scene: Scene, action: str, *, step: Step | None = None, primary: bool = False) -> Element:
    """A button about the run, or about one step of it (and one try of that, where the move is about a try)."""
    tries = str(words.state_of(scene, step).attempt) if step and action in ids.OF_ONE_TRY else None
    value = ids.encode(scene.run.id, scene.run.revision, step.id, tries) if step else scene.run.id
    hears = words.about(scene, step.id) if step else scene.run.id
    return blocks.button(action, value, about=hears, style="primary" if primary else "")


def stop(scene: Scene) -> Element:
    """The red one. It never asks back."""
    return blocks.button(ids.RUN_STOP, scene.run.id, about=scene.run.id, style="danger")


def change_rest(scene: Scene, offers: frozenset[str]) -> Element | None:
    """Change the rest, where that is possible."""
    if OFFER_CHANGE_REST not in offers:
        return None
    return blocks.button(ids.RUN_CHANGE_REST, ids.encode(scene.run.id, scene.run.revision), about=words.about(scene))


def menu(scene: Scene, offers: frozenset[str]) -> Element | None:
    """The select of the steps before which the run may still be made to wait."""
    if OFFER_BREAKPOINT not in offers:
        return None
    waiting = [step for step in scene.plan.steps if not words.state_of(scene, step).started_at]
    value = ids.encode(scene.run.id, scene.run.revision)
    return blocks.select(ids.RUN_BREAKPOINT, "Pause before…", words.options(scene, value, waiting))


def held_step(scene: Scene) -> Step | None:
    """The step that the hold is about."""
    return next((step for step in scene.plan.steps if step.id == scene.run.held_step), None)


def moves(offers: frozenset[str], *labels: str) -> str:
    """`Continue, Change the rest or Stop`: the moves in words, as far as they exist here."""
    known = [label for label in labels if label != "Change the rest" or OFFER_CHANGE_REST in offers]
    return f"{', '.join(known)} or Stop"
