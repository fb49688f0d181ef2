"""The operations that a browser uses: the page, its files and pictures, short links; and those of operators."""

from __future__ import annotations

from backend.address.short_links.codes import LONGEST_NAME, LONGEST_QUERY
from backend.jobs.encoding import JSON
from backend.jobs.lessons import HTML
from backend.web.openapi.operation import Answer, Operation, Parameter, answer
from backend.web.openapi.schema import COUNT, choice, maybe, nullable, record, ref, text
from backend.web.routes.page import APPEARANCE

SCRIPT = answer("The script.", kind="text/javascript")
VIEW = Parameter(
    "view",
    ref("View"),
    "The keys of a view: a spec, up to three more after `b.`, `c.` and `d.`, a model and machine after `m.`, and what "
    "the page shows (docs/contracts.md). `z` packs all of them.",
    spread=True,
)
LINK = record(code=str, url=str, query=str, name=nullable(str))
PART = record(ok=bool, why=nullable(str))
READY = record(ready=bool, server=PART, store=PART, links=PART, redis=maybe(PART), runner=PART)
STORE = record(ok=bool, why=nullable(str), unreadable=COUNT)

OPERATIONS: dict[str, Operation] = {
    "page.index": Operation("page", answer("The page.", kind=HTML), (VIEW,), strict=False),
    "page.build": Operation("page", answer("The workbench.", kind=HTML), (VIEW,), strict=False),
    "page.embed": Operation(
        "page",
        answer("The timeline.", kind=HTML),
        (*(Parameter(key, choice(words, words[0]), "else the default") for key, words in APPEARANCE.items()), VIEW),
        strict=False,
    ),
    "page.plotly_script": Operation(
        "page", SCRIPT, path={"release": text(r"^[0-9]+\.[0-9]+\.[0-9]+$")}, refusals=(304, 404)
    ),
    "static": Operation(
        "page", answer("The file.", kind="*/*"), path={"filename": text("^[^/].*$")}, refusals=(304, 404)
    ),
    "page.show_picture": Operation(
        "page", answer("The picture.", kind="image/png"), (VIEW,), refusals=(304,), strict=False
    ),
    "standalone.show_standalone": Operation(
        "page",
        answer("The file.", kind=HTML, file=True),
        (VIEW,),
        refusals=(503,),
        strict=False,
        more="Refuses a view whose schedules are illegal or too large for one file.",
    ),
    "component.show_component": Operation("page", answer("The documentation.", kind=HTML)),
    "component.component_script": Operation("page", SCRIPT, refusals=(304, 503)),
    "links.make_link": Operation(
        "links",
        answer("The link.", LINK, status=201),
        body=record(query=text(most=LONGEST_QUERY), name=maybe(nullable(text(most=LONGEST_NAME)))),
        refusals=(409, 429, 503),
    ),
    "links.follow_link": Operation(
        "links",
        {
            302: Answer("The view.", {HTML: {}}, {"Location": {"required": True, "schema": text()}}),
            404: Answer("There is no such link.", {HTML: {}, JSON: ref("Error")}),
            503: Answer("Links cannot be read at present.", {HTML: {}, JSON: ref("Error")}),
        },
        path={"code": text("^[^/]+$")},
    ),
    "health.healthz": Operation(
        "operation", answer("The server serves.", record(ok=bool, version=str, runner=dict, store=STORE, queue=COUNT))
    ),
    "health.readyz": Operation(
        "operation",
        answer("Every part can work.", READY) | answer("A part cannot; `why` says why.", READY, status=503),
    ),
    "health.metrics": Operation("operation", answer("The metrics.", kind="text/plain")),
    "openapi.describe": Operation(
        "operation",
        answer("The description.", {"type": "object", "required": ["openapi", "info", "paths", "components"]}),
        refusals=(304,),
    ),
}
