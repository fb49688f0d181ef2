"""A page's query as the server reads it: which schedules it shows, with all their costs.

The page's own reading is static/js/core/state/link.js; the server needs it for previews and files. The page takes the default
where a value is bad; here that is a SpecError.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from backend.schedule.errors import SpecError
from backend.schedule.families import imported
from backend.schedule.families.registry import family_of, judge
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import COST_KEYS, Spec
from backend.web.address.packed import unpack
from backend.web.address.preset import priced
from backend.web.address.query import KEYS, value_of
from backend.web.http.responses import apart

OTHERS = ("b.", "c.", "d.")
READING = 600  # ops that take as long as reading a character of what is packed (under z, or an imported order)
MOST_KEYS = 200
NOTHING = ("none", "")
PLAIN = {key: value for key, value in Spec().to_json().items() if key != "costs"} | {
    key: getattr(Costs(), key) for key in COST_KEYS
}


def plans_of(query: bytes) -> list[Spec]:
    """The schedules that a view shows, the first one first; SpecError names the key that is wrong. A long query is read
    off the event loop: unpacking the longest takes a quarter of a second."""
    return apart(READING * len(query), lambda: _plans_of(query))


def _plans_of(query: bytes) -> list[Spec]:
    given = entries_of(query)
    first = _read(given, "", PLAIN)
    named = [prefix for prefix in OTHERS if any(prefix + key in given for key in KEYS)]
    plans = [_spec(fields) for fields in (first, *(_read(given, prefix, first) for prefix in named))]
    plans = priced(plans, given)
    for spec in plans:
        judge(spec)
    return plans


def entries_of(query: bytes) -> dict[str, str]:
    """Keys and values, the first of each; what is packed under z stands behind what is said beside it."""
    found: dict[str, str] = {}
    for key, text in _pairs(query):
        found.setdefault(key, text)
    packed = found.pop("z", None)
    if packed is None:
        return found
    inner = unpack(packed)
    if inner is None:
        raise SpecError("z", packed[:60], "z is not a packed view as the page writes it, or a part of it is missing")
    for key, text in _pairs(inner.encode()):
        found.setdefault(key, text)
    return found


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_KEYS)
    except ValueError:
        raise SpecError("query", None, "this is not the query of a view") from None


def _read(given: Mapping[str, str], prefix: str, base: Mapping[str, object]) -> dict[str, object]:
    """A spec's fields: those of ``base`` but for what is given; another family brings its own v."""
    fields = dict(base)
    said = {key: given[prefix + key].strip() for key in KEYS if prefix + key in given}
    if said.get("family", base["family"]) != base["family"]:
        fields["family"] = said["family"]
        fields["v"] = 1 if said["family"] == imported.NAME else family_of(Spec(family=said["family"])).v[1]
        fields["order"] = None  # it was the other's own
    for key, text in said.items():
        fields[key] = None if text in NOTHING and PLAIN[key] is None else value_of(key, text)
    return fields


def _spec(fields: Mapping[str, object]) -> Spec:
    plain = {key: value for key, value in fields.items() if key not in COST_KEYS}
    return Spec.from_json(plain | {"costs": {key: fields[key] for key in COST_KEYS}})
