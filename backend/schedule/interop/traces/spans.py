"""Read OpenTelemetry spans of Megatron-LM: OTLP as JSON, one object or one a line.

``megatron.microbatch.forward`` and ``megatron.microbatch.backward`` are ops; the attributes
``dl.pipeline_parallel.rank``, ``dl.data_parallel.rank``, ``megatron.iteration``, ``dl.microbatch_id`` and
``dl.virtual_pipeline_rank`` say which. A backward has no micro-batch there: it is counted. Attributes of a resource
hold for its spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backend.schedule.errors import OrderError, message
from backend.schedule.interop.traces.recording import Beside, Event, Recording, rows_of, steps_by_repetition

OPS = {"megatron.microbatch.forward": "F", "megatron.microbatch.backward": "B"}
BESIDE = ("megatron.optimizer_step", "megatron.grad_sync.finish")
NS = 1e-6  # ms
_RANK = ("dl.pipeline_parallel.rank", "pipeline_parallel.rank", "pp_rank")
_REPLICA = ("dl.data_parallel.rank", "data_parallel.rank", "dp_rank")
_STEP = ("megatron.iteration", "iteration", "dl.iteration")
_MICRO = ("dl.microbatch_id", "microbatch_id")
_CHUNK = ("dl.virtual_pipeline_parallel.rank", "dl.virtual_pipeline_rank", "vp_rank")


def is_spans(text: str) -> bool:
    """Return whether text begins as OTLP's JSON does."""
    return '"resourceSpans"' in text[:4096] or '"scopeSpans"' in text[:4096]


def recording(texts: list[str]) -> Recording:
    """Return the ops of all spans. Raises OrderError for text that is not JSON."""
    events: list[Event] = []
    beside: list[Beside] = []
    stepped = True
    for number, text in enumerate(texts, 1):
        for span, resource in _spans(number, text):
            name = span.get("name")
            if name not in OPS and name not in BESIDE:
                continue
            about = resource | _attributes(span)
            rank, replica, step = (_whole(about, keys) for keys in (_RANK, _REPLICA, _STEP))
            start, end = (float(span.get(key, 0)) * NS for key in ("startTimeUnixNano", "endTimeUnixNano"))
            if name in BESIDE:
                beside.append(Beside(step or 0, replica or 0, rank or 0, str(name), start, end))
                continue
            stepped = stepped and step is not None
            micro, chunk = _whole(about, _MICRO), _whole(about, _CHUNK)
            events.append(Event(step or 0, replica or 0, rank or 0, OPS[name], chunk or 0, micro, start, end))
    p = 1 + max((each.rank for each in events), default=0)
    placed = [each._replace(stage=each.stage * p + each.rank) for each in events]
    source = message("schedule.trace_of_spans", "OpenTelemetry spans of Megatron-LM")
    return Recording(source, rows_of(placed if stepped else steps_by_repetition(placed)), beside if stepped else ())


def _spans(number: int, text: str) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield each span with the attributes of its resource."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            problem = message("schedule.trace_not_json", "file {number} is not JSON: {problem}", number=number,
                              problem=str(error)[:80])  # fmt: skip
            raise OrderError(problem) from None
    for document in documents:
        for group in document.get("resourceSpans", []) if isinstance(document, dict) else []:
            resource = _attributes(group.get("resource", {}))
            for scope in group.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    yield span, resource


def _attributes(of: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes by key: OTLP wraps each value in its type."""
    found = {}
    for each in of.get("attributes", []):
        value = each.get("value")
        found[each.get("key")] = next(iter(value.values()), None) if isinstance(value, dict) else value
    return found


def _whole(about: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        try:
            return int(about[key])
        except (KeyError, TypeError, ValueError):
            continue
    return None
