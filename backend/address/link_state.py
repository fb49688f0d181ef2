"""A view's query as the server reads it: the schedules it shows, with all their costs.

The page's own reading is static/js/core/state/link.ts; the server needs it for previews and files. The page takes the
default where a value is bad; here that raises RequestError.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from backend.address.packed import unpack
from backend.address.preset import with_preset_costs
from backend.address.query import KEYS, value_of
from backend.errors import RequestError, message
from backend.schedule.families import imported
from backend.schedule.families.registry import family_of, validate
from backend.schedule.interop.megatron_layout import is_layout
from backend.schedule.options.family_names import canonical
from backend.schedule.options.sizes import SEARCHED
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import COST_KEYS, Spec

OTHERS = ("b.", "c.", "d.")
MOST_KEYS = 200
NOTHING = ("none", "")
PLAIN = {key: value for key, value in Spec().to_json().items() if key != "costs"} | {
    key: getattr(Costs(), key) for key in COST_KEYS
}


def plans_of(query: bytes) -> list[Spec]:
    """Return the schedules that a view shows, the first one first. Raises RequestError naming the key that is wrong."""
    entries = entries_of(query)
    if "m.model" in entries and is_layout(entries.get("layers", "")):  # of the model, which knows its modules
        entries.setdefault("m.layers", entries.pop("layers"))
    first = _fields(entries, "", PLAIN)
    prefixes = [prefix for prefix in OTHERS if any(prefix + key in entries for key in KEYS)]
    plans = [_spec(fields) for fields in (first, *(_fields(entries, prefix, first) for prefix in prefixes))]
    plans = with_preset_costs(plans, entries)
    for spec in plans:
        validate(spec)
    return plans


def entries_of(query: bytes) -> dict[str, str]:
    """Return keys and values, the first of each; those packed under ``z`` come after the plain ones."""
    entries: dict[str, str] = {}
    for key, text in _pairs(query):
        entries.setdefault(key, text)
    packed = entries.pop("z", None)
    if packed is None:
        return entries
    inner = unpack(packed)
    if inner is None:
        why = message(
            "web.not_a_packed_view", "z is not a packed view as the page writes it, or a part of it is missing"
        )
        raise RequestError("z", packed[:60], why)
    for key, text in _pairs(inner.encode()):
        entries.setdefault(key, text)
    return entries


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_KEYS)
    except ValueError:
        why = message("web.not_a_view", "this is not the query of a view")
        raise RequestError("query", None, why) from None


def _fields(entries: Mapping[str, str], prefix: str, base: Mapping[str, object]) -> dict[str, object]:
    """Return a spec's fields: those of ``base`` if the link gives none; another family has its own natural v."""
    fields = dict(base)
    given = {key: entries[prefix + key].strip() for key in KEYS if prefix + key in entries}
    if "family" in given:
        given["family"] = canonical(given["family"])
    if given.get("family", base["family"]) != base["family"]:
        fields["family"] = given["family"]
        fields["v"] = 1 if given["family"] == imported.NAME else family_of(Spec(family=given["family"])).v[1]
        fields["order"] = None  # belongs to the other schedule
    for key, text in given.items():
        fields[key] = None if text in NOTHING and PLAIN[key] is None else value_of(key, text)
    return fields


def _spec(fields: Mapping[str, object]) -> Spec:
    if fields.get("injection") == SEARCHED:  # a link gives the same step without a search
        why = message("web.entry_in_links", "a link lists the order in which micro-batches enter")
        raise RequestError("injection", SEARCHED, why, nearest="mountain")
    plain = {key: value for key, value in fields.items() if key not in COST_KEYS}
    return Spec.from_json(plain | {"costs": {key: fields[key] for key in COST_KEYS}})
