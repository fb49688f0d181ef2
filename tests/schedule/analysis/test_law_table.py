"""The document of laws: up to date with the code, and every law exact in the region where it is stated as exact."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli.schedule import LAWS_PAGE, laws
from backend.schedule.analysis import law_table
from backend.schedule.analysis.law_table import Tally, grid, table
from backend.schedule.families.registry import FAMILIES
from backend.schedule.laws.law import AHEAD
from backend.schedule.result import law_names


def test_the_committed_page_matches_the_code_and_every_law_is_exact_inside_its_region() -> None:
    fresh, kept = table()
    assert kept, "a law is not equal to the simulation in every spec of its region"
    assert LAWS_PAGE.read_text() == fresh, "docs/laws.md is stale: run `python app.py laws` and commit it"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_spec_of_the_grid_is_counted_once_for_every_law(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is simulated: nothing is, here."""
    specs = grid(FAMILIES[name], 30)
    monkeypatch.setattr(law_table, "grid", lambda family, cells: specs)
    monkeypatch.setattr(law_table, "_simulated", lambda spec: defaultdict(float))
    names = [law_names(spec) for spec in specs]
    for trial in law_table.trials(FAMILIES[name]):
        counted = trial.inside.cells + sum(tally.cells for tally in trial.outside.values())
        law = trial.law
        known = [each for each in names if each["lead"] == 0 or law.quantity == "peak" or law.when == AHEAD]
        assert counted == sum(law.speaks(each) for each in known) > 0


def test_the_grid_of_a_family_is_the_same_each_time_and_reaches_uneven_stages_and_hops() -> None:
    specs = grid(FAMILIES["1f1b"], 60)
    assert specs == grid(FAMILIES["1f1b"], 60)
    assert {spec.costs.uniform for spec in specs} == {spec.costs.comm > 0 for spec in specs} == {True, False}


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((0, 0, 0), "not met in the grid"),
        ((5, 0, 0), "equal"),
        ((5, 1, 0), "an upper bound"),
        ((5, 0, 1), "a lower bound"),
        ((5, 1, 1), "fails"),
    ],
)
def test_a_tally_says_bound_only_where_the_law_was_one(counts: tuple[int, int, int], verdict: str) -> None:
    assert Tally(*counts).verdict() == verdict


def test_the_command_writes_the_page_and_detects_a_stale_one(tmp_path: Path) -> None:
    page = tmp_path / "laws.md"
    stale = CliRunner().invoke(laws, ["-o", str(page), "--check"])
    assert (stale.exit_code, page.exists()) == (1, False)
    assert CliRunner().invoke(laws, ["-o", str(page)]).exit_code == 0
    assert page.read_text() == LAWS_PAGE.read_text()
    assert CliRunner().invoke(laws, ["-o", str(page), "--check"]).exit_code == 0
