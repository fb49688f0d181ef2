"""The operations about the workbench's tasks: what they are, their boards, entries."""

from __future__ import annotations

from backend.schedule.options.recompute import MODES
from backend.schedule.order.placement import NAMED as PLACEMENTS
from backend.schedule.partial_order.position import LIMITS
from backend.schedule.partial_order.score import METRICS
from backend.schedule.spec import MOST_ORDER
from backend.tasks.grade import ID_LENGTH
from backend.tasks.names import LONGEST_NAME
from backend.tasks.task import GOALS, KINDS, LANGUAGES, LEVELS
from backend.web.openapi.operation import Operation, answer, nothing
from backend.web.openapi.schema import (
    COUNT,
    Fields,
    array,
    choice,
    described,
    either,
    maybe,
    nullable,
    record,
    ref,
    text,
    whole,
)

TAG = "tasks"
SLUG = {"slug": {"type": "string", "pattern": "^[^/]+$", "examples": ["finish-1f1b"]}}
SLUG_AND_ENTRY = {**SLUG, "entry": text("^[^/]+$")}
IN_LANGUAGES = record(**dict.fromkeys(LANGUAGES, str))
SCORE = record(makespan=float, bubble=float, peak=float, messages=COUNT, simplicity=COUNT)
SIZES: Fields = {
    "placement": choice(PLACEMENTS),
    **{key: whole(1, most) for key, most in LIMITS.items()},
    "costs": dict,
    "w_share": float,
    "memory": nullable(float),
    "sizes": nullable(array(float)),
    "recompute": choice(MODES),
    "recompute_at": choice(("backward", "ahead")),
}
ROWS = described(array(str), "the ops of each rank, as texts with spaces between")
HEAD: Fields = {
    "slug": str,
    "number": whole(1, 1000),
    "idea": described(str, "the slug of what it is about"),
    "level": whole(LEVELS[0], LEVELS[-1]),
    "title": IN_LANGUAGES,
    "kinds": choice(KINDS),
}
GOAL = {"metric": choice(GOALS)}
GOAL_FIELDS: Fields = {"at_most": maybe(float), "below": maybe(float), "than": maybe(str), "as": maybe(array(str))}
TASK = record(
    **HEAD,
    text=IN_LANGUAGES,
    position=record(**SIZES, rows=ROWS),
    fixed=described(bool, "whether an entry must begin with the rows of the position"),
    goals=array(record(**GOAL, **GOAL_FIELDS)),
    par=record(source=choice(("family", "search")), name=nullable(str), score=SCORE, rows=ROWS),
    bound=nullable(record(makespan=float, argument=ref("Text"))),
    named=array(record(family=str, title=ref("Text"), score=SCORE, within=bool)),
    previous=nullable(str),
    next=nullable(str),
)
ENTRY = record(
    id=text(f"^[0-9a-f]{{{ID_LENGTH}}}$"),
    score=SCORE,
    name=nullable(text(most=LONGEST_NAME)),
    count=described(COUNT, "how often this order was submitted"),
    created=described(float, "Unix time in seconds"),
    order=described(str, "packed, as in a link"),
    rows=ROWS,
)
HISTOGRAM = record(**{"from": float}, width=float, counts=array(COUNT))
BOARD = record(
    task=str,
    entries=COUNT,
    submissions=COUNT,
    histograms=record(**dict.fromkeys(METRICS, HISTOGRAM)),
    front=array(ENTRY),
    best=array(ENTRY),
)
GRADED_GOALS = array(record(**GOAL, met=bool, value=either(float, array(str)), **GOAL_FIELDS))
STARS = described(whole(0, 3), "1: the goals are met, 2: as short as par, 3: no order is shorter")
SUBMITTED = record(entry=ENTRY, new=bool, solved=bool, stars=STARS, goals=GRADED_GOALS, place=whole(1, 10**9))
SUBMISSION = record(
    order=maybe(nullable(text(most=MOST_ORDER))),
    rows=maybe(nullable(ROWS)),
    name=maybe(nullable(text(most=LONGEST_NAME))),
    **dict.fromkeys(("score", *METRICS), maybe(object)),
)
LISTED = record(**HEAD, goals=described(array(str), "a metric, or one below a family's"), position=record(**SIZES))
TASKS = record(ideas=array(record(slug=str, title=IN_LANGUAGES, text=IN_LANGUAGES)), tasks=array(LISTED))

OPERATIONS: dict[str, Operation] = {
    "tasks.list_tasks": Operation(TAG, answer("The tasks.", TASKS), refusals=(304,)),
    "tasks.show_task": Operation(TAG, answer("The task.", TASK), path=SLUG, refusals=(304, 404)),
    "tasks.show_board": Operation(TAG, answer("The board.", BOARD), path=SLUG, refusals=(404,)),
    "tasks.submit_entry": Operation(
        TAG,
        answer("The order is on the board.", SUBMITTED, status=201),
        path=SLUG,
        body=SUBMISSION,
        refusals=(404,),
        more="Give either `order` or `rows`.",
    ),
    "tasks.delete_entry": Operation(TAG, nothing("The entry is deleted."), path=SLUG_AND_ENTRY, refusals=(404,)),
    "tasks.delete_name": Operation(TAG, nothing("The entry has no name."), path=SLUG_AND_ENTRY, refusals=(404,)),
}
