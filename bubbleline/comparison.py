"""Schedules side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, Unpack

from backend.schedule.analysis.compare import compare as compare_families
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB
from backend.schedule.interop.ascii import columns
from backend.schedule.options.family_names import canonical
from backend.schedule.spec import Spec
from bubbleline.schedules import Schedule
from bubbleline.settings import Costs, Options, preset_of, spec_data
from bubbleline.tables import to_pandas


@dataclass(frozen=True)
class Comparison:
    """Schedules side by side, with their figures.

    Attributes:
        schedules: The schedules; ratios are relative to the first.
        notes: What to know about the table: families that could not be built, sizes that were adjusted.
    """

    schedules: tuple[Schedule, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Schedule]:
        return iter(self.schedules)

    def __len__(self) -> int:
        return len(self.schedules)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each schedule: family, p, m, v, step_time and bubble as of ``Schedule``, ratio (step_time over the
        first one's), peak_memory and peak_in_flight of the fullest rank; with a model also seconds (with what follows
        the last backward), tokens_per_second, mfu and gb.
        """
        return [self._row(each) for each in self.schedules]

    def to_pandas(self) -> Any:
        """Return ``rows`` as a pandas DataFrame. Raises ImportError where pandas is not installed."""
        return to_pandas(self.rows)

    def _row(self, each: Schedule) -> dict[str, Any]:
        first = self.schedules[0].step_time
        row = {"family": each.family, "p": each.p, "m": each.m, "v": each.v, "step_time": each.step_time,
               "ratio": each.step_time / first if first else 1.0, "bubble": each.bubble,
               "peak_memory": float(each.peak_memory.max()),
               "peak_in_flight": int(each.peak_in_flight.max())}  # fmt: skip
        units = each.units
        if units is not None:
            row |= {"seconds": units.whole, "tokens_per_second": units.rate, "mfu": units.mfu,
                    "gb": units.memory.most / GB}  # fmt: skip
        return row

    @property
    def _cells(self) -> list[list[str]]:
        head = list(self.rows[0]) if self.rows else []
        return [head, *([_text(row.get(name)) for name in head] for row in self.rows)]

    def __str__(self) -> str:
        return "\n".join([*columns(self._cells, {0}), *self.notes])

    def _repr_html_(self) -> str:
        tags = ["th", *["td"] * len(self.rows)]
        head, *body = (
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in line)}</tr>"
            for tag, line in zip(tags, self._cells, strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>{notes}"


def compare(
    *names: str,
    p: int | None = None,
    m: int | None = None,
    v: int | None = None,
    costs: Costs | Mapping[str, Any] | None = None,
    model: str | Preset | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Put families side by side at one setting.

    Args:
        *names: Families; none for all of them.
        p, m, v, costs, model, **options: As of ``schedule``. A family that cannot be built there takes the nearest
            legal values, and the notes say so.

    Raises:
        SpecError: A value is illegal, or a family is unknown.

    Examples:
        >>> import bubbleline as bl
        >>> print(bl.compare("1f1b", "zb-h1", p=4, m=8))
        family  p  m  v  step_time   ratio  bubble  peak_memory  peak_in_flight
        1f1b    4  8  1         33       1  0.2727            4               4
        zb-h1   4  8  1         27  0.8182  0.1111            4               4
    """
    preset = preset_of(model)
    data = spec_data(costs, {"p": p, "m": m, "v": v or 1, **options})
    shape = compare_families(Spec.from_json(data), [canonical(name) for name in names], v, preset)
    made = tuple(Schedule(Spec.from_json(row["spec"]), preset) for row in shape["rows"])
    adjusted = [f"{row['title']}: {row['adjusted']}" for row in shape["rows"] if row["adjusted"]]
    left_out = [str(note) for note in shape["notes"] if note.code == "analysis.family_left_out"]
    return Comparison(made, (*adjusted, *left_out))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
