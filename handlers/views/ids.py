"""Names of what can be pressed, and the grammar of what a press carries.

An `action_id` is `surface.verb`, the same everywhere. A `value` is an opaque id and never a fact: the store knows what it stands for.

    R-7K2Q             a run                     R-7K2Q.1.post            a step
    R-7K2Q.1           a revision                R-7K2Q.1.post.c41f09d2   one filling of it (the first eight of its digest)
    R-7K2Q.1.p3        a page of a revision      R-7K2Q.1.post.c41f09d2.p3  a page of a filling
    R-7K2Q.q1.2        choice 2 of question 1     R-7K2Q.1.post.up         a move of the edit form
"""

import re
from dataclasses import dataclass

from bot.errors import Refused

REVIEW_APPROVE = "review.approve"
REVIEW_EDIT = "review.edit"
REVIEW_ASK = "review.ask"
REVIEW_CANCEL = "review.cancel"
REVIEW_BREAKPOINT = "review.breakpoint"
REVIEW_SHOW_ALL = "review.show_all"
RUN_CANCEL = "run.cancel"
RUN_BREAKPOINT = "run.breakpoint"
RUN_PAUSE = "run.pause"
RUN_STOP = "run.stop"
RUN_RESUME = "run.resume"
RUN_CONTINUE = "run.continue"
RUN_RETRY = "run.retry"
RUN_SKIP = "run.skip"
RUN_HAPPENED = "run.happened"
RUN_NOT_HAPPENED = "run.not_happened"
RUN_SHOW_ALL = "run.show_all"
RUN_CHANGE_REST = "run.change_rest"
RUN_NEVER_MIND = "run.never_mind"
RUN_ASK_AGAIN = "run.ask_again"
RUN_PLAN_AGAIN = "run.plan_again"
CONFIRM_CONFIRM = "confirm.confirm"
CONFIRM_REFUSE = "confirm.refuse"
CONFIRM_CHANGE = "confirm.change"
CONFIRM_SHOW_ALL = "confirm.show_all"
EDIT_STEP = "edit.step"
EDIT_ADD = "edit.add"
EDIT_AS_TEXT = "edit.as_text"
NOTE_KEEP = "note.keep"
QUESTION_CHOOSE = "question.choose"  # ".1", ".2", … follows
PAGE_NEXT = "page.next"
PAGE_BACK = "page.back"
HOME_OPEN = "home.open"  # ".1", ".2", … follows
HOME_NEW = "home.new"
HOME_PAUSE_ALL = "home.pause_all"
HOME_FREEZE = "home.freeze"
HOME_THAW = "home.thaw"

# What a modal is when it comes back (its callback_id).
VIEW_PAGES = "review.pages"
VIEW_STEP_UP = "review.step_up"
VIEW_CONFIRM_STEP_UP = "confirm.step_up"
VIEW_CONFIRM_PAGES = "confirm.pages"
VIEW_EDIT = "edit.steps"
VIEW_STEP = "edit.step"
VIEW_ADD = "edit.add"
VIEW_REMOVE = "edit.remove"
VIEW_TEXT = "edit.text"
VIEW_ARGUMENTS = "confirm.change"
VIEW_ASK = "review.ask"
VIEW_REST = "run.change_rest"
VIEW_CANCEL = "review.cancel"
VIEW_REFUSE = "confirm.refuse"
VIEW_HAPPENED = "run.happened"
VIEW_NEW = "ask.new"
VIEW_FREEZE = "home.freeze"

LABELS = {
    REVIEW_APPROVE: "Approve",
    REVIEW_EDIT: "Edit",
    REVIEW_ASK: "Ask for changes",
    REVIEW_CANCEL: "Cancel",
    REVIEW_SHOW_ALL: "Show all",
    RUN_CANCEL: "Cancel",
    RUN_PAUSE: "Pause",
    RUN_STOP: "Stop",
    RUN_RESUME: "Resume",
    RUN_CONTINUE: "Continue",
    RUN_RETRY: "Retry",
    RUN_SKIP: "Skip",
    RUN_HAPPENED: "It happened",
    RUN_NOT_HAPPENED: "It did not happen",
    RUN_SHOW_ALL: "Show all",
    RUN_CHANGE_REST: "Change the rest",
    RUN_NEVER_MIND: "Never mind",
    RUN_ASK_AGAIN: "Ask again",
    RUN_PLAN_AGAIN: "Plan again",
    CONFIRM_CONFIRM: "Confirm",
    CONFIRM_REFUSE: "Refuse",
    CONFIRM_CHANGE: "Change arguments",
    CONFIRM_SHOW_ALL: "Show all",
    EDIT_ADD: "Add a step",
    EDIT_AS_TEXT: "As text",
    NOTE_KEEP: "Keep this plan",
    PAGE_NEXT: "Next",
    PAGE_BACK: "Back",
    HOME_NEW: "New plan",
    HOME_PAUSE_ALL: "Pause all",
    HOME_FREEZE: "Freeze",
    HOME_THAW: "Thaw",
}

# What a modal's submit is called, for the record.
SENT_AS = {
    VIEW_PAGES: LABELS[REVIEW_APPROVE],
    VIEW_STEP_UP: LABELS[REVIEW_APPROVE],
    VIEW_CONFIRM_STEP_UP: LABELS[CONFIRM_CONFIRM],
    VIEW_CONFIRM_PAGES: LABELS[CONFIRM_CONFIRM],
    VIEW_CANCEL: LABELS[REVIEW_CANCEL],
    VIEW_REFUSE: LABELS[CONFIRM_REFUSE],
    VIEW_HAPPENED: LABELS[RUN_HAPPENED],
    VIEW_NEW: LABELS[HOME_NEW],
    **dict.fromkeys((VIEW_EDIT, VIEW_STEP, VIEW_ADD, VIEW_REMOVE, VIEW_TEXT), LABELS[REVIEW_EDIT]),
    VIEW_ARGUMENTS: "Change",
    VIEW_ASK: LABELS[REVIEW_ASK],
    VIEW_REST: LABELS[RUN_CHANGE_REST],
    VIEW_FREEZE: LABELS[HOME_FREEZE],
}

# Their buttons name the try of the step that they are about: an answer to an earlier doubt or failure is none to a later one.
OF_ONE_TRY = frozenset({RUN_RETRY, RUN_SKIP, RUN_HAPPENED, RUN_NOT_HAPPENED})

VALUE = re.compile(
    r"(?P<run>R-[0-9A-Z]{3,12})"
    r"(?:\.q(?P<question>\d{1,4})\.(?P<choice>\d{1,3})"
    r"|\.(?P<revision>\d{1,6})(?:\.(?P<step>[A-Za-z][A-Za-z0-9_-]{0,39})(?:\.(?P<filling>[0-9a-f]{1,64})(?:\.p(?P<sheet>\d{1,4}))?)?)?)?"
)
PAGE = re.compile(r"p(\d{1,4})")
MOVES = ("change", "break", "up", "down", "remove")  # of the menu beside a step in the edit form


@dataclass(frozen=True)
class Target:
    """What a press is about. A third part such as `p3` may be a page or a step of that name: both are set, and the action tells which."""

    run: str
    revision: int | None = None
    step: str | None = None
    filling: str | None = None
    page: int | None = None
    question: int | None = None
    choice: int | None = None


def parse_value(value: str) -> Target:
    """The target that a value names. Raises `Refused("unknown_run")` for anything outside the grammar."""
    match = VALUE.fullmatch(value)
    if not match:
        raise Refused("unknown_run", run=value[:20])
    page = match["sheet"] or (page_name[1] if (page_name := PAGE.fullmatch(match["step"] or "")) else None)
    return Target(
        run=match["run"],
        revision=_number(match["revision"]),
        step=match["step"],
        filling=match["filling"],
        page=_number(page),
        question=_number(match["question"]),
        choice=_number(match["choice"]),
    )


def encode(run: str, revision: int | None = None, step: str | None = None, filling: str | None = None, *, page: int | None = None) -> str:
    """The value that `parse_value` reads back; `filling` is cut to its first eight."""
    parts = [run, *(str(part) for part in (revision, step, filling and filling[:8]) if part is not None)]
    return ".".join([*parts, *([f"p{page}"] if page is not None else [])])


def encode_choice(run: str, question: int, choice: int) -> str:
    """The value of a lettered button below a question."""
    return f"{run}.q{question}.{choice}"


def parse_move(value: str) -> tuple[Target, str]:
    """The step and the move that a line of its menu names. Raises `Refused("unknown_run")` for anything else."""
    named, _, move = value.rpartition(".")
    target = parse_value(named)
    if move not in MOVES or target.step is None:
        raise Refused("unknown_run", run=target.run)
    return target, move


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None
