"""Megatron-LM's layout of layers: what it means, at every door, and where a wrong one is wrong."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from app import cli
from backend.address.link_state import plans_of
from backend.address.preset import preset_of, setting_fields
from backend.address.query import value_of
from backend.schedule.errors import SpecError
from backend.schedule.hardware.cost_model import KEYS, Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.interop.megatron_layout import MOST, read_layout

DEEPSEEK = "Et*3|(tt|)*29,m|L"  # Megatron-LM's documentation: PP 16, VP 2


def test_the_layout_of_the_documentation_has_its_stages() -> None:
    layout = read_layout(DEEPSEEK)
    assert layout.layers == (3, *(2,) * 29, 0, 0)
    assert (layout.mtp, layout.mtp_stage) == (1, 30)
    assert layout.counts == (3, *(2,) * 29, 1, 0)
    assert sum(layout.layers) == 61
    assert len(layout.layers) == 16 * 2


@pytest.mark.parametrize(
    ("text", "layers", "mtp_stage"),
    [
        ("EtL", (1,), None),
        ("E|(tt|)*3,tttm|L", (0, 2, 2, 2, 3, 0), 4),
        ("Ett||tmmL", (2, 0, 1), None),  # empty stages, and two modules in the last one
        ("E(t|)*2(tt|t)*2L", (1, 1, 2, 3, 1), None),
        ("Et|*3tL", (1, 0, 0, 1), None),
    ],
)
def test_a_layout_is_written_out(text: str, layers: tuple[int, ...], mtp_stage: int | None) -> None:
    assert (read_layout(text).layers, read_layout(text).mtp_stage) == (layers, mtp_stage)


WRONG = {
    "Et*3|x|L": 6, "tt|L": 1, "Et|t": 4, "EtL|": 4, "EtL|t": 5, "Et|m|tL": 6, "Etm|mL": 5, "Et|(tt|L": 8,
    "Et|(t(t|)*2L": 6, "Et)*2L": 3, "Et|(tt)|L": 7, "Et*0|L": 4, f"Et*{MOST}|L": 8, "(t|)*99999999|L": 13, "E|L": 3,
    "EEt|L": 2, "Et*|L": 3, "|EtL": 2, "Et |L": 3, "et|L": 1, "Et*9999999999|L": 12,
}  # fmt: skip


@pytest.mark.parametrize(("text", "at"), WRONG.items())
def test_a_wrong_layout_names_the_position_and_an_example(text: str, at: int) -> None:
    with pytest.raises(SpecError) as caught:
        read_layout(text)
    assert caught.value.field == "layers"
    assert f"wrong at position {at} (" in caught.value.message
    assert DEEPSEEK in caught.value.message


def test_further_tokens_take_their_time_and_memory_where_the_layout_has_them() -> None:
    layout, shared = read_layout(DEEPSEEK), {"model": "deepseek-v3", "p": 16, "v": 2, "tp": 2, "data": 32, "expert": 64}
    own = Setting.read(shared | {"layers": list(layout.layers), "mtp": 1, "mtp_stage": 30})
    last, without = (estimate(Setting.read(shared | {"layers": list(layout.layers), "mtp": mtp})) for mtp in (1, 0))
    found = estimate(own)
    for kind in "FIW":
        apart, together, none = (getattr(each.costs, kind) for each in (found, last, without))
        assert apart[:30] == together[:30] == none[:30]
        assert apart[31] == pytest.approx(2 * none[31])  # two outputs
        assert sum(apart) == pytest.approx(sum(together))
        assert none[30] == 0 < apart[30]
        assert found.pieces.stages(layout.layers)["FIW".index(kind)] == pytest.approx(apart)
    weights = [each.footprint.stages["weights"] for each in (found, last, without)]
    assert weights[0][30] == pytest.approx(weights[1][31] - weights[2][31])
    assert sum(found.footprint.stages["activations"]) == pytest.approx(sum(last.footprint.stages["activations"]))
    assert max(found.footprint.memory) <= max(last.footprint.memory)
    for wrong in ({"mtp_stage": 29}, {"mtp_stage": 30, "mtp": 0}, {"mtp_stage": 32}):
        with pytest.raises(SpecError) as caught:
            Setting.read(shared | {"layers": [3, *[2] * 28, 0, 2, 0], "mtp": 1} | wrong)
        assert caught.value.field == "mtp_stage"


def test_every_door_reads_the_same_layout() -> None:
    layout = "Ett|ttt|ttm|L"
    assert value_of("layers", layout) == [2, 3, 3, 0]
    link = "model=deepseek-v3&p=4&layers=" + layout.replace("|", "%7C")
    fields = setting_fields(link.encode(), KEYS)
    assert (fields["layers"], fields["mtp"], fields["mtp_stage"]) == ([2, 3, 2, 0], 1, 2)
    preset = preset_of({"model": "deepseek-v3", "layers": layout})
    listed = preset_of({"model": "deepseek-v3", "layers": "2,3,2,0", "mtp": "1", "mtp_stage": "2"})
    assert dict(preset.fields) == dict(listed.fields)
    plain, model = (
        plans_of(f"family=1f1b&p=4&m=8&{query}".encode())[0]
        for query in ("layers=Ett%7Cttt%7Cttm%7CL", "layers=Ett%7Cttt%7Cttm%7CL&m.model=deepseek-v3")
    )
    assert (plain.layers, model.layers) == ((2, 3, 3, 0), None)
    shown = ["show", "1f1b", "-p", "4", "-m", "8", "--layers", layout, "--json"]
    assert json.loads(CliRunner().invoke(cli, shown).output)["spec"]["layers"] == [2, 3, 3, 0]
    priced = json.loads(CliRunner().invoke(cli, [*shown, "--model", "deepseek-v3"]).output)["spec"]
    assert priced["costs"]["F"] == list(model.costs.F)  # type: ignore[arg-type]
    listed_by = ["costs", "deepseek-v3", "-p", "4", "--layers", layout, "--json"]
    assert json.loads(CliRunner().invoke(cli, listed_by).output)["layers"] == [2, 3, 2, 0]
    short = CliRunner().invoke(cli, [*shown[:3], "3", *shown[4:-1], "--model", "deepseek-v3"])
    assert (short.exit_code, "layers" in short.output) == (2, True)
    wrong = CliRunner().invoke(cli, ["show", "1f1b", "--layers", "Ett|x"])
    assert re.search(r"position 5 \(x\)", wrong.output)
    with pytest.raises(SpecError) as caught:
        preset_of({"model": "deepseek-v3", "layers": layout, "mtp": "2"})
    assert (caught.value.field, caught.value.nearest) == ("mtp", 1)
