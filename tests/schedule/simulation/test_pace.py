"""The default unit of a paced run: readable, and such that one can watch the step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.schedule.families import registry
from backend.schedule.simulation.pace import READABLE, default_unit_ms, mean_op
from backend.schedule.simulation.simulate import simulate
from tests.support import cases
from tests.support.runner.client import ROOT

GOLDEN = json.loads((Path(ROOT) / "tests/golden/units.json").read_text())


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=str)
def test_the_unit_is_that_of_the_table_which_the_page_is_held_to_as_well(row: list[float]) -> None:
    *work, unit = row
    given: dict[str, Any] = dict(zip(GOLDEN["columns"], work, strict=False))
    assert default_unit_ms(**given) == unit


@cases("p", [1, 2, 4, 8])
@pytest.mark.parametrize("family", ["1f1b", "gpipe", "zb-h1", "interleaved", "dualpipev"])
@cases("factor", [1.0, 0.037, 363.2])
def test_a_step_lasts_four_to_six_seconds(family: str, p: int, factor: float) -> None:
    spec = registry.read({"family": family, "p": p, "m": 16, "costs": dict.fromkeys("FIW", factor)})
    timeline = simulate(registry.order(spec), spec.timing, spec.v)
    makespan = float(timeline.end.max())
    unit = default_unit_ms(makespan, mean_op(timeline), p, cores=2)
    assert 4 <= unit * makespan / 1000 <= 6
    assert any(f"{unit:.1e}".startswith(f"{digits:.1f}e") for digits in READABLE)


def test_ops_have_time_for_their_work_and_all_steps_together_last_a_minute_at_most() -> None:
    assert default_unit_ms(6000.0, 1.5, ranks=8, cores=2) * 1.5 >= 3.0 * 4
    assert default_unit_ms(33.0, 1.5, ranks=4, cores=2, steps=100) * 33 * 100 <= 60_000
