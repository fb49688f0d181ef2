"""Write the tables that the page shares with the server into a file that the page's bundle includes.

`python -m backend.web.page_tables` writes static/vendor/tables.json; set-up does so. The page reads it in
static/js/core/schedule/spec_tables.ts, which says what each table is.
"""

from __future__ import annotations

import json
from typing import Any

from backend.address.preset import NAMES, YES_NO
from backend.address.query import KEYS, MOST_ENTRIES
from backend.config import PROJECT
from backend.schedule.families import imported
from backend.schedule.families.family import Family
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import PARALLEL, SETTING_BOUNDS, WHOLE_BOUNDS
from backend.schedule.hardware.machines import COUNTS, MACHINE_FIELDS
from backend.schedule.hardware.machines import bounds as machine_bounds
from backend.schedule.hardware.models import ALIASES as MODEL_ALIASES
from backend.schedule.hardware.models import MAY_LACK, MODEL_FIELDS, WHOLE
from backend.schedule.hardware.models import bounds as model_bounds
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.options.family_names import ALIASES
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.offload import OF_A_CHUNK
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.options.recompute import TIMES
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.messages import RECEIVES, STREAMS
from backend.schedule.spec import COST_KEYS, LIMITS

PAGE_TABLES = PROJECT / "static" / "vendor" / "tables.json"
CONSTRUCTION = (
    *("name", "title", "placement", "v", "fields", "backward", "asynchronous", "shaped_by_costs", "vocabulary"),
    *("ops", "table", "block", "legal"),
)
PER_PRESET_SETTING = ("sequence", "micro_batch")  # of a preset as a whole, not of its model


def page_tables() -> dict[str, Any]:
    """Return each table by its name."""
    return {
        "spec_fields": [*(key for key in KEYS if key != "order"), "order"],
        "cost_keys": COST_KEYS,
        "imported": imported.NAME,
        "family_names": ALIASES,
        "asynchronous": [family.name for family in FAMILIES.values() if family.asynchronous],
        "most_stages": MOST_ENTRIES,
        "recompute": {name: {"extra": mode.extra, "kept": mode.kept} for name, mode in RECOMPUTE.items()},
        "barriers": {name: mode.barriers for name, mode in VOCABULARY.items()},
        "offload": list(OFFLOAD),
        "recompute_at": list(TIMES),
        "streams": list(STREAMS),
        "receives": list(RECEIVES),
        "offload_of_chunk": list(OF_A_CHUNK),
        "model_aliases": MODEL_ALIASES,
        "preset_fields": _preset_fields(),
        "frameworks": [(each.name, each.title) for each in FRAMEWORKS.values()],
        "families": [_constructed(family) for family in FAMILIES.values() if family.problem is None],
        "limits": LIMITS,
    }


def _constructed(family: Family) -> dict[str, Any]:
    """Return what the page constructs a family's orders from: its table or, without one, its block."""
    described = family.as_dict()
    return {key: described[key] for key in CONSTRUCTION} | ({} if family.table is None else {"block": None})


def _preset_fields() -> list[tuple[str, str, str]]:
    """Return the server's name, the link's key and the form of each field of a model or a machine."""
    short = {field: key for key, field in NAMES.items()}
    return [
        (field, short.get(field, field), _form(field))
        for field in (*MODEL_FIELDS, *MACHINE_FIELDS, *PARALLEL)
        if field not in PER_PRESET_SETTING
    ]


def _form(field: str) -> str:
    """Return the form of a field's value in a link; ``?`` allows none."""
    if field == "layers":
        return field
    if field in YES_NO:
        return "truth"
    bounds = model_bounds() | machine_bounds() | SETTING_BOUNDS
    if bounds[field][0] == 0:
        form = "atLeastZero"
    else:
        form = "whole" if field in WHOLE or field in COUNTS or field in WHOLE_BOUNDS else "positive"
    return form + "?" * (field in MAY_LACK)


if __name__ == "__main__":
    PAGE_TABLES.write_text(json.dumps(page_tables()))
