"""The operations that a browser uses: the page, its files and pictures, short links; and those of operators."""

from __future__ import annotations

from backend.address.short_links.codes import LONGEST_NAME, LONGEST_QUERY
from backend.jobs.encoding import JSON
from backend.web.openapi.operation import Answer, Operation, Parameter, json_answer
from backend.web.openapi.schedules import FILE
from backend.web.openapi.schema import COUNT, TEXT, TRUTH, choice, nullable, record, ref, text
from backend.web.routes.page import APPEARANCE

HTML = "text/html"
VIEW = Parameter(
    "view",
    ref("View"),
    "The keys of a view: a spec, up to three more after `b.`, `c.` and `d.`, a model and machine after `m.`, and what "
    "the page shows (docs/contracts.md). `z` packs all of them.",
    spread=True,
)
PART = record({"ok": TRUTH, "why": nullable(TEXT)})
READY = record({"ready": TRUTH, "server": PART, "store": PART, "links": PART, "runner": PART})

OPERATIONS: dict[str, Operation] = {
    "page.index": Operation("page", {200: Answer("The page.", {HTML: {}})}, (VIEW,), strict=False),
    "page.build": Operation("page", {200: Answer("The workbench.", {HTML: {}})}, (VIEW,), strict=False),
    "page.embed": Operation(
        "page",
        {200: Answer("The timeline.", {HTML: {}})},
        (
            *(Parameter(key, choice(words, words[0]), "else the default") for key, words in APPEARANCE.items()),
            VIEW,
        ),
        strict=False,
    ),
    "page.plotly_script": Operation(
        "page",
        {200: Answer("The script.", {"text/javascript": {}})},
        path={"release": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"}},
        refusals=(304, 404),
        strict=False,
    ),
    "static": Operation(
        "page",
        {200: Answer("The file.", {"*/*": {}})},
        path={"filename": {"type": "string", "pattern": "^[^/].*$"}},
        refusals=(304, 404),
        strict=False,
    ),
    "page.show_picture": Operation(
        "page", {200: Answer("The picture.", {"image/png": {}})}, (VIEW,), refusals=(304,), strict=False
    ),
    "standalone.show_standalone": Operation(
        "page",
        {200: Answer("The file.", {HTML: {}}, FILE)},
        (VIEW,),
        refusals=(503,),
        strict=False,
        more="Refuses a view whose schedules are illegal or too large for one file.",
    ),
    "component.show_component": Operation("page", {200: Answer("The documentation.", {HTML: {}})}, strict=False),
    "component.component_script": Operation(
        "page",
        {200: Answer("The script.", {"text/javascript": {}})},
        refusals=(304, 503),
        strict=False,
    ),
    "links.make_link": Operation(
        "links",
        json_answer("The link.", record({"code": TEXT, "url": TEXT, "query": TEXT, "name": nullable(TEXT)}), 201),
        body=record({"query": text(most=LONGEST_QUERY)}, {"name": nullable(text(most=LONGEST_NAME))}),
        refusals=(409, 429, 503),
        strict=False,
    ),
    "links.follow_link": Operation(
        "links",
        {
            302: Answer("The view.", {HTML: {}}, {"Location": {"required": True, "schema": TEXT}}),
            404: Answer("There is no such link.", {HTML: {}, JSON: ref("Error")}),
            503: Answer("Links cannot be read at present.", {HTML: {}, JSON: ref("Error")}),
        },
        path={"code": {"type": "string", "pattern": "^[^/]+$"}},
        strict=False,
    ),
    "health.healthz": Operation(
        "operation",
        json_answer(
            "The server serves.",
            record(
                {
                    "ok": TRUTH,
                    "version": TEXT,
                    "runner": {"type": "object"},
                    "store": record({"ok": TRUTH, "why": nullable(TEXT), "unreadable": COUNT}),
                    "queue": COUNT,
                }
            ),
        ),
        strict=False,
    ),
    "health.readyz": Operation(
        "operation",
        json_answer("Every part can work.", READY) | json_answer("A part cannot; `why` says why.", READY, 503),
        strict=False,
    ),
    "health.metrics": Operation("operation", {200: Answer("The metrics.", {"text/plain": {}})}, strict=False),
    "openapi.describe": Operation(
        "operation",
        json_answer("The description.", {"type": "object", "required": ["openapi", "info", "paths", "components"]}),
        refusals=(304,),
        strict=False,
    ),
}
