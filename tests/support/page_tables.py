"""Writes the tables of a spec and a preset that the page shares with the server, from the server's own.

``python -m tests.support.page_tables`` writes static/js/core/schedule/spec_tables.js; a lint test holds it up to date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.address.preset import NAMES, YES_NO
from backend.address.query import KEYS, MOST_ENTRIES
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES
from backend.schedule.family_names import ALIASES
from backend.schedule.hardware.machines import MACHINE_FIELDS
from backend.schedule.hardware.machines import bounds as machine_bounds
from backend.schedule.hardware.models import ALIASES as MODEL_ALIASES
from backend.schedule.hardware.models import MAY_LACK, MODEL_FIELDS, WHOLE
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.offload import OF_A_CHUNK
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.spec import COST_KEYS

PAGE_TABLES = Path(__file__).parents[2] / "static" / "js" / "core" / "schedule" / "spec_tables.js"
HEAD = """// Tables that the page and the server share.
// Written from the server's by `python -m tests.support.page_tables`.
"""
SHORT = 90  # columns of a list on one line
PER_PRESET_SETTING = ("sequence", "micro_batch")  # of a preset as a whole, not of its model


def page_tables() -> str:
    """Return the module's text."""
    short = {field: key for key, field in NAMES.items()}
    preset_fields = [
        [field, short.get(field, field), _form(field)]
        for field in (*MODEL_FIELDS, *MACHINE_FIELDS)
        if field not in PER_PRESET_SETTING
    ]
    order_last = [*(key for key in KEYS if key != "order"), "order"]
    return HEAD + "".join(
        [
            _export("Fields of a spec, in the order of the query.", "string[]", "SPEC_FIELDS", order_last),
            _export("Fields of a spec's costs.", "string[]", "COST_KEYS", COST_KEYS),
            _export("The family of an order that is in the link itself.", "string", "IMPORTED", imported.NAME),
            _export(
                "Families by any of their names, in lower case without spaces, hyphens and underscores.",
                "Record<string, string>",
                "FAMILY_NAMES",
                ALIASES,
            ),
            _export(
                "Families whose every backward updates the weights.",
                "string[]",
                "ASYNCHRONOUS",
                [family.name for family in FAMILIES.values() if family.asynchronous],
            ),
            _export("Entries of the longest list: one per stage.", "number", "MOST_STAGES", MOST_ENTRIES),
            _export(
                "Recomputation: the part of F that runs again with I, the part of its activations held until then.",
                "Record<string, {extra: number, kept: number}>",
                "RECOMPUTE",
                {name: {"extra": mode.extra, "kept": mode.kept} for name, mode in RECOMPUTE.items()},
            ),
            _export(
                "Barriers per micro-batch around S and T, by the place of the output layer.",
                "Record<string, number>",
                "BARRIERS",
                {name: mode.barriers for name, mode in VOCABULARY.items()},
            ),
            _export("Modes of offload.", "string[]", "OFFLOAD", list(OFFLOAD)),
            _export("Modes of offload of one chunk.", "string[]", "OFFLOAD_OF_CHUNK", list(OF_A_CHUNK)),
            _export(
                "Names that models had before, which old links have.",
                "Record<string, string>",
                "MODEL_ALIASES",
                MODEL_ALIASES,
            ),
            _export(
                "Fields of a model or a machine: the server's name, the link's key, the form of its value.",
                "[string, string, string][]",
                "PRESET_FIELDS",
                preset_fields,
            ),
        ]
    )


def _form(field: str) -> str:
    """Return the form of a field's value in a link; ``?`` allows none."""
    if field == "layers":
        return field
    if field in YES_NO:
        return "truth"
    if field in WHOLE or field == "per_node":
        form = "whole"
    else:
        form = "atLeastZero" if field in MACHINE_FIELDS and machine_bounds()[field][0] == 0 else "positive"
    return form + "?" * (field in MAY_LACK)


def _export(comment: str, kind: str, name: str, value: Any) -> str:
    return f"\n/**\n * {comment}\n * @type {{{kind}}}\n */\nexport const {name} = {_literal(value)};\n"


def _literal(value: Any) -> str:
    """Write a value with one entry per line; a short list or a plain value on one line."""
    if isinstance(value, dict):
        entries = [f"  {json.dumps(key)}: {json.dumps(each)},\n" for key, each in value.items()]
        return "{\n" + "".join(entries) + "}"
    if isinstance(value, list | tuple) and len(json.dumps(value)) > SHORT:
        return "[\n" + "".join(f"  {json.dumps(each)},\n" for each in value) + "]"
    return json.dumps(value)


if __name__ == "__main__":
    PAGE_TABLES.write_text(page_tables())
