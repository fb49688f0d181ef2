"""Requests nearly every text for readers from the server: valid requests for every family and chart, and hundreds of
wrong ones. Yields the texts as the page receives them: plain, or {"code", "params", "message"}."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient

from backend.charts.catalogue import KINDS
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.models import MODELS

SETTINGS = (
    "p=4&m=8", "p=4&m=12&F=1&I=2&W=0.5&comm=0.3", "p=6&m=4&F=2,1,1,1,1,1", "p=1&m=3", "p=4&m=10&recompute=full",
    "p=4&m=8&vocabulary=parallel-1", "p=4&m=8&vocabulary=interlaced", "p=4&m=16&offload=full", "p=5&m=40&comm=2",
    "p=4&m=8&layers=3,1,2,2", "p=8&m=16&v=3&group=3", "p=8&m=7&F=0.5&I=1&W=3", "p=3&m=11&w_share=0.5",
)  # fmt: skip

COMPARED = (
    "p=2&m=5&families=-v-auto,zb-auto", "p=3&m=7&F=1,2,3&families=-v-auto,zb-auto", "p=2&m=4&comm=0.5&recompute=full",
    "p=4&m=9&w_share=0.5&families=gpipe,1f1b,interleaved,gis,pipedream,zb-h1&group=3&v=3&F=1&I=2&W=0.5",
    "p=2&m=6&layers=3,1&vocabulary=parallel-1&offload=full&families=gpipe,1f1b,gis,dualpipev,v-min",
)  # fmt: skip

WRONG = (
    "q=4", "famly=x", "P=4", "costs=1", "p=4&p=4", "p=four", "p=0", "p=-4", "p=4.5", "p=inf", "m=65537",
    "p=1024&m=65536", "v=2", "group=0&family=interleaved", "group=null", "memory=nan", "memory=-1", "w_share=1.5",
    "lifo=yes", "lifo=true", "F=nan", "F=1,2", "F=9*1&p=2", "F=0*1", "F=1000000*1", "I=,", "comm=1,2", "comm=Infinity",
    "FB=3", "FB=-1&family=dualpipe", "family=", "family=zb", "family=%FF", "%FF=1",
    "&".join(f"k{k}=1" for k in range(99)), "recompute=some", "recompute=full&FB=3&family=dualpipe",
    "recompute=full&F=1,1,1,1", "vocabulary=all", "vocabulary=parallel-1&family=gpipe",
    "vocabulary=parallel-1&v=90&family=interleaved&m=512", "offload=full",
    "vocabulary=interlaced&family=zb-h1", "vocabulary=redistribute&F=1,1,1,1",
    "vocabulary=redistribute&FB=3&family=dualpipe",
    "vocabulary=parallel-1&family=gpipe&lifo=true", "offload=full&family=gis&recompute=full&m=16", "shared_link=true",
    "offload=full&family=gis&shared_link=true&p=3&m=9", "layers=1,2", "layers=0,0,0,0", "layers=1,x",
    "layers=1,1,1,1&F=1,1,1,1",
    "layers=2,2,2,2&FB=3&family=dualpipe", "weights=0.5", "effort=3", "effort=1000000&family=zb-auto&p=64&m=4096",
    "family=zb-auto&memory=0.2", "family=v-auto&memory=0.1", "family=dualpipe&p=3&m=12", "family=dualpipe&m=4",
    "family=dualpipe&m=11", "family=dualpipev&m=3", "family=dualpipev&v=3", "family=v-min&v=3", "family=v-zb&v=1",
    "family=interleaved&group=9&m=8", "family=interleaved&group=2&p=4&m=8&v=2", "family=interleaved&group=5&p=4&m=11",
    "family=gis&m=7&p=4", "family=interleaved&v=1000", "family=imported", "family=imported&order=xx", "seed=2",
    "family=imported&order=AAAA", "order=AAAA", "S=-1", "O=x", "effort=x&family=zb-auto", "z=xx", "group=2",
)  # fmt: skip

COSTS = (
    "model=gpt9", "machine=tpu", "p=0", "p=999&v=9", "tp=99", "efficiency=2", "heads=7", "gated=7", "layers=1,2",
    "layers=0,4,4,4&p=4", "kv_heads=5", "stored=1&parameters=100", "link=air", "placement=z", "in_flight=-1",
    "hidden=0",
    "p=64&v=8", "zz=1", "flops=1", "model=custom&vocabulary=0", "p=4&p=4", "tp=1.5", "parameters=x",
)  # fmt: skip

ORDERS = (
    "", "0F0", "0F0,0B0\n1F0", "0F0,0F0\n1F0,1B0", "0B0,0F0\n1F0,1B0", "0B0,0F0,0F1,0B1\n1F0,1F1,1B0,1B1", "hello",
    "0F0,0I0,0B0\n1F0,1B0", "0F0,0W0,0I0\n1F0,1I0,1W0", "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1", "1F0,1B0\n1F0,1B0",
    "0F0,0B0\n2F0,2B0\n1F0,1B0", "0F0,0F9999999", "0F0,0B0\n1F0,1B0\n2F0,2B0\n3F0", "0S0,0F0,0B0",
    "(0F0;0B0)OVERLAP_F_B", "0F0,0B0\n1F0,1X0", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1", "0F0,,0B0\n1F0,1B0",
)  # fmt: skip


Text = str | dict[str, Any]


def texts(client: FlaskClient) -> Iterator[Text]:
    """Yield all of them; many come more than once."""
    yield from _families(client)
    yield from _refusals(client)
    yield from _costs(client)
    yield from _files(client)
    yield from _charts(client)


def _families(client: FlaskClient) -> Iterator[Text]:
    for family in client.get("/api/families").json["families"]:
        yield from (family[key] for key in ("title", "source", "used_by", "group", "summary", "backward", "complexity"))
        for law in family["laws"]:
            yield law["source"]
            yield from (why for _, why in law["where"])
    for name in (*FAMILIES, "imported"):
        for p in (1, 2, 3, 4, 8):
            answer = client.get(f"/api/block?family={name}&p={p}").json
            yield from _error(answer) or (answer["sentence"], answer["note"])
        yield from _error(client.get(f"/api/bound?family={name}").json) or ()
        for setting in SETTINGS:
            answer = client.get(f"/api/laws?family={name}&{setting}").json
            yield from _error(answer) or (law["why"] for law in answer["laws"])
    for setting in COMPARED:
        answer = client.get(f"/api/compare?{setting}").json
        yield from _error(answer) or _rows(answer)


def _rows(answer: Any) -> Iterator[Text]:
    yield from answer["notes"]
    for row in answer["rows"]:
        yield from (row["title"], row["technique"], row["adjusted"], row["parameters"]["why"], row["used_by"])
        yield from (cell["differs"] for cell in (row["claim"] or {}).values())


def _refusals(client: FlaskClient) -> Iterator[Text]:
    for query in WRONG:
        yield from _error(client.get(f"/api/schedule?{query}").json) or ()
    for query in ("z=xx", *WRONG[::8]):  # which these read as that route does
        for route in ("export", "standalone"):
            yield from _error(client.get(f"/api/{route}?{query}").get_json(silent=True)) or ()
    for query in ("families=a", "families=gpipe,gpipe", "F=1,2,3&p=2", "p=1024&m=4000"):
        yield from _error(client.get(f"/api/compare?{query}").json) or ()
    bodies: list[Any] = [
        [],
        {"spec": 1},
        {"spec": {"p": True}},
        {"spec": {"costs": 3}},
        {"spec": {"costs": {"X": 1}}},
        {"x": 1},
    ]
    bodies += [
        {"spec": {"layers": 3}},
        {"mode": "fast"},
        {"unit_ms": "x"},
        {"spec": {"family": 7}},
        {"spec": {"order": 7}},
    ]
    bodies += [
        {"spec": {"costs": {"F": [1, "x"]}}},
        {"spec": {"p": 1e400}},
        {"spec": {"lifo": 1}},
        {"spec": {"m": 2.5}},
        {"mode": "free", "unit_ms": 2},
        {"dtype": "half"},
        {"device": "tpu"},
        {"steps": 0},
        {"seed": 0.5},
    ]
    for body in bodies:
        yield from _error(client.post("/api/runs", json=body).json) or ()
    for text in ('{"a": NaN}', '{"spec": {}, "spec": {}}', "[" * 9999, '"x"'):
        yield from _error(client.post("/api/runs", data=text, content_type="application/json").json) or ()
    yield from _error(client.post("/api/runs", data="x").json) or ()
    for route in (
        "/api/runs/none",
        "/api/runs?limit=0",
        "/api/runs?x=1",
        "/nothing",
        "/s/nothing",
        "/api/export?format=x",
        "/api/export?m=60000&format=chrome-trace",
    ):
        yield from _error(client.get(route, headers={"Accept": "application/json"}).json) or ()
    yield from _error(client.delete("/api/families").json) or ()
    for link in ({"query": 3}, {"query": "x" * 99999}, {"query": "?nonsense=1"}, {"query": "?p=4", "name": "A b"}, {}):
        yield from _error(client.post("/api/links", json=link).json) or ()


def _costs(client: FlaskClient) -> Iterator[Text]:
    for query in COSTS:
        for route in ("costs", "balance"):
            yield from _error(client.get(f"/api/{route}?{query}").json) or ()
    shelves = client.get("/api/models").json
    yield from (
        preset[key]
        for shelf in ("models", "machines")
        for preset in shelves[shelf]
        for key in ("title", "note", "source")
        if key in preset
    )
    for model in MODELS:
        for query in ("p=8", "p=8&heads=1", "p=4&v=2&heads=1&placement=v"):
            answer = client.get(f"/api/costs?model={model}&{query}").json
            yield answer["counted"]
            yield from (figure["name"] for figure in answer["arithmetic"])


def _files(client: FlaskClient) -> Iterator[Text]:
    for order in ORDERS:
        for more in ({}, {"placement": "v"}, {"placement": "looped"}, {"placement": "z"}):
            yield from _error(client.post("/api/orders", json={"csv": order} | more).json) or ()
    op = {"ph": "X", "pid": 0, "tid": 0, "ts": 0, "dur": 5, "name": "0F0"}
    for events in (
        [], [3], [op], [op | {"dur": -1}], [op | {"ts": "x"}], [op, op | {"name": "0B0", "ts": 2}], [op | {"ph": "E"}],
        [op | {"ph": "B"}], [op, op | {"name": "2F0", "tid": 2}], [op | {"name": "matmul"}],
    ):  # fmt: skip
        yield from _error(client.post("/api/runs/import", json={"traceEvents": events}).json) or ()
    for trace in (3, {"traces": 3}, {}):
        yield from _error(client.post("/api/runs/import", json=trace).json) or ()


def _charts(client: FlaskClient) -> Iterator[Text]:
    plans = "family=zb-h1&p=4&m=8&b.family=interleaved&b.p=4&b.m=8&b.v=2&c.family=dualpipe&c.p=3"
    queries = [f"{name}?{plans}&y={y}&m.model=llama3-8b" for name, kind in KINDS.items() for y in kind.heights]
    queries += ["memory?family=gis&p=4&m=16&offload=full&v=4", "memory?family=zb-auto&memory=5", "split?p=96&m=99"]
    queries += [
        "bubble?theme=dark",
        "pareto?found=0",
        "pareto?found=0&y=bubble",
        "bubble?e.p=4",
        "none",
        "split?p=1024&m=4096",
    ]
    queries += [
        "messages",
        "offload?m.machine=h100&m.model=llama3-70b",
        "pareto?family=v-half&found=0",
        "bubble?width=x",
    ]
    for query in queries:
        answer = client.get(f"/api/charts/{query}").json
        yield from _error(answer) or _chart(answer)


def _chart(answer: Any) -> Iterator[Text]:
    yield from answer["notes"]
    for column in answer.get("columns", ()):
        yield from column
    for row in answer.get("rows", ()):
        yield from (*row["lines"], *(cell for cell in row["cells"] if isinstance(cell, str | dict)))
    yield from _drawn(answer["figure"])


def _drawn(part: Any) -> Iterator[Text]:
    """Yield a figure's texts line by line, as static/js/panels/charts/answers.ts looks them up."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict) and "code" in value:
            yield value
        elif isinstance(value, str) and (key in ("text", "hovertext", "name") or isinstance(part, list)):
            yield from value.split("<br>")
        elif isinstance(value, dict) or (isinstance(value, list) and key in ("text", "hovertext", "ticktext", "data")):
            yield from _drawn(value)
        elif isinstance(value, list):
            yield from (text for each in value if isinstance(each, dict) for text in _drawn(each))


def _error(answer: Any) -> list[Text]:
    """Return the text of a refusal: the error itself, or its message where it has no code yet."""
    if not isinstance(answer, dict) or "error" not in answer:
        return []
    error = answer["error"]
    return [error["message"] if error["code"] == "unspecified" else error]
