"""The operations about the workbench's tasks: what they are, their boards, entries."""

from __future__ import annotations

from backend.schedule.order.placement import KINDS as PLACEMENTS
from backend.schedule.partial_order.position import LIMITS
from backend.schedule.partial_order.score import METRICS
from backend.schedule.spec import MOST_ORDER
from backend.tasks.grade import ID_LENGTH
from backend.tasks.names import LONGEST_NAME
from backend.tasks.task import GOALS, KINDS, LANGUAGES, LEVELS
from backend.web.openapi.operation import Answer, Operation, json_answer
from backend.web.openapi.schema import (
    ANY,
    COUNT,
    NUMBER,
    TEXT,
    TRUTH,
    Schema,
    array,
    choice,
    either,
    nullable,
    record,
    ref,
    text,
    whole,
)

TAG = "tasks"
SLUG: dict[str, Schema] = {"slug": {"type": "string", "pattern": "^[^/]+$", "examples": ["finish-1f1b"]}}
ENTRY_ID: dict[str, Schema] = {"entry": {"type": "string", "pattern": "^[^/]+$"}}
IN_LANGUAGES = record(dict.fromkeys(LANGUAGES, TEXT))
SCORE = record({"makespan": NUMBER, "bubble": NUMBER, "peak": NUMBER, "messages": COUNT, "simplicity": COUNT})
SIZES: dict[str, Schema] = {
    "placement": choice(PLACEMENTS),
    **{key: whole(1, most) for key, most in LIMITS.items()},
    "costs": {"type": "object"},
    "w_share": NUMBER,
    "memory": nullable(NUMBER),
}
ROWS = {**array(TEXT), "description": "the ops of each rank, as texts with spaces between"}
HEAD: dict[str, Schema] = {
    "slug": TEXT,
    "number": whole(1, 1000),
    "level": whole(LEVELS[0], LEVELS[-1]),
    "title": IN_LANGUAGES,
    "kinds": choice(KINDS),
}
GOAL_FIELDS: dict[str, Schema] = {"at_most": NUMBER, "as": array(TEXT)}
GOAL = record({"metric": choice(GOALS)}, GOAL_FIELDS)
GRADED_GOAL = record({"metric": choice(GOALS), "met": TRUTH, "value": either(NUMBER, array(TEXT))}, GOAL_FIELDS)
TASK = record(
    HEAD
    | {
        "text": IN_LANGUAGES,
        "position": record(SIZES | {"rows": ROWS}),
        "fixed": {**TRUTH, "description": "whether an entry must begin with the rows of the position"},
        "goals": array(GOAL),
        "par": record({"source": choice(("family", "search")), "name": nullable(TEXT), "score": SCORE, "rows": ROWS}),
        "bound": nullable(record({"makespan": NUMBER, "argument": ref("Text")})),
        "named": array(record({"family": TEXT, "title": ref("Text"), "score": SCORE, "within": TRUTH})),
        "previous": nullable(TEXT),
        "next": nullable(TEXT),
    }
)
ENTRY = record(
    {
        "id": text(f"^[0-9a-f]{{{ID_LENGTH}}}$"),
        "score": SCORE,
        "name": nullable(text(most=LONGEST_NAME)),
        "count": {**COUNT, "description": "how often this order was submitted"},
        "created": {"type": "number", "description": "Unix time in seconds"},
        "order": {"type": "string", "description": "packed, as in a link"},
        "rows": ROWS,
    }
)
HISTOGRAM = record({"from": NUMBER, "width": NUMBER, "counts": array(COUNT)})

OPERATIONS: dict[str, Operation] = {
    "tasks.list_tasks": Operation(
        TAG,
        json_answer(
            "The tasks.",
            record({"tasks": array(record(HEAD | {"goals": array(choice(GOALS)), "position": record(SIZES)}))}),
        ),
        refusals=(304,),
        strict=False,
    ),
    "tasks.show_task": Operation(TAG, json_answer("The task.", TASK), path=SLUG, refusals=(304, 404), strict=False),
    "tasks.show_board": Operation(
        TAG,
        json_answer(
            "The board.",
            record(
                {
                    "task": TEXT,
                    "entries": COUNT,
                    "submissions": COUNT,
                    "histograms": record(dict.fromkeys(METRICS, HISTOGRAM)),
                    "front": array(ENTRY),
                    "best": array(ENTRY),
                }
            ),
        ),
        path=SLUG,
        refusals=(404,),
        strict=False,
    ),
    "tasks.submit_entry": Operation(
        TAG,
        json_answer(
            "The order is on the board.",
            record(
                {"entry": ENTRY, "new": TRUTH, "solved": TRUTH, "goals": array(GRADED_GOAL), "place": whole(1, 10**9)}
            ),
            201,
        ),
        path=SLUG,
        body=record(
            {},
            {
                "order": nullable(text(most=MOST_ORDER)),
                "rows": nullable(ROWS),
                "name": nullable(text(most=LONGEST_NAME)),
                **dict.fromkeys(("score", *METRICS), ANY),
            },
        ),
        refusals=(404,),
        strict=False,
        more="Give either `order` or `rows`.",
    ),
    "tasks.delete_entry": Operation(
        TAG, {204: Answer("The entry is deleted.")}, path=SLUG | ENTRY_ID, refusals=(404,), strict=False
    ),
    "tasks.delete_name": Operation(
        TAG, {204: Answer("The entry has no name.")}, path=SLUG | ENTRY_ID, refusals=(404,), strict=False
    ),
}
