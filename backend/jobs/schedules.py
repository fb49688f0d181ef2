"""Orders, Results, bounds and building blocks."""

from __future__ import annotations

from collections.abc import Callable

from backend.address.query import fields_of, spec_of, value_of
from backend.jobs.encoding import BINARY, Encoded, encode_json, encode_plain_json
from backend.schedule.analysis.steady_state import steady_state
from backend.schedule.families import registry
from backend.schedule.families.searched import bound_of
from backend.schedule.order import wire
from backend.schedule.result import law_values, result
from backend.schedule.spec import Spec

BLOCK_KEYS = ("family", "p")


def order_of(spec: Spec) -> Encoded:
    """Return the order of a legal spec in the wire format."""
    return Encoded.of(wire.compress(wire.encode(registry.order(spec), spec.to_json())), BINARY)


def result_of(spec: Spec) -> Encoded:
    """Return the Result of a legal spec as JSON."""
    return encode_plain_json(result(spec))


def laws_of(spec: Spec) -> Encoded:
    """Return the laws of a legal spec with its numbers substituted."""
    return encode_json({"laws": law_values(spec)})


def of_query(work: Callable[[Spec], Encoded], query: bytes) -> Encoded:
    """Return what `work` makes of the spec in a query: unpacking that may take long."""
    return work(spec_of(query))


def bound_of_spec(spec: Spec) -> Encoded:
    """Return the lower bound of a searched family's spec. Raises SpecError for a family with one order."""
    return encode_json(bound_of(spec, registry.family_of(spec)))


def block_of_query(query: bytes) -> Encoded:
    """Return the building block of a family on p devices. Raises SpecError for a family without one."""
    return encode_json(steady_state(Spec.from_json(fields_of(query, BLOCK_KEYS, value_of))))
