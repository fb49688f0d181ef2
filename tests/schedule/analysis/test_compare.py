"""The comparison: each row is the simulation of a legal spec, and each difference from a claim has a reason."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from backend.cli.compare import compare as command
from backend.config import PROJECT
from backend.schedule import result
from backend.schedule.analysis.claims import CLAIMS, claim_of, simulated
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.analysis.pareto import points
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import LIMITS, Spec
from tests.support.strategies import few, whole_costs

SETTING = Spec(p=8, m=32)


def rows(asked: Spec, *names: str, v: int | None = None) -> dict[str, dict]:
    return {row["family"]: row for row in compare(asked, names or None, v)["rows"]}


@given(p=st.integers(1, 5), m=st.integers(1, 16), v=st.none() | st.integers(1, 4), costs=whole_costs())
@few(6)
def test_every_family_has_a_row_that_is_its_own_result(p: int, m: int, v: int | None, costs: Costs) -> None:
    shown = rows(Spec(p=p, m=m, costs=costs), v=v)
    assert list(shown) == list(FAMILIES)
    for row in shown.values():
        spec = registry.read(row["spec"])
        whole = result.result(spec)
        for key in ("makespan", "longest_stage", "bubble"):
            assert row[key] == whole[key]
        assert row["peak_in_flight"] == max(whole["peak_in_flight"])
        assert row["peak_memory"] == {"ranks": whole["peak_memory"], "max": max(whole["peak_memory"])}
        changed = {key for key in ("p", "m") if row["spec"][key] != {"p": p, "m": m}[key]}
        assert all(f"{key} = {row['spec'][key]} instead of" in row["adjusted"] for key in changed)
        assert changed or row["adjusted"] is None or "v = " in row["adjusted"]


@pytest.mark.parametrize("more", [{"recompute_at": "ahead"}, {"spared": 2}, {"spared": 1, "recompute_at": "ahead"}])
def test_recomputation_in_the_waits_and_of_some_micro_batches_is_compared_too(more: dict[str, Any]) -> None:
    asked = registry.read({"family": "1f1b", "p": 4, "m": 8, "recompute": "full"} | more)
    shown = rows(asked)
    assert list(shown) == list(FAMILIES)
    assert shown["1f1b"]["makespan"] == result.result(asked)["makespan"]
    for name in ("v-half", "zb-h1"):
        assert shown[name]["spec"]["recompute"] == "full"


def test_recomputation_counts_in_times_and_memory() -> None:
    plain, again = (rows(SETTING.with_(recompute=mode), "1f1b")["1f1b"] for mode in ("none", "full"))
    assert again["makespan"] == pytest.approx(plain["makespan"] * 4 / 3)
    assert again["peak_memory"]["max"] < plain["peak_memory"]["max"]


def test_an_illegal_value_is_replaced_by_the_nearest_legal_one_with_a_note() -> None:
    shown = rows(Spec(p=5, m=13), "1f1b", "dualpipe", "interleaved")
    assert shown["1f1b"]["adjusted"] is None
    spec = shown["dualpipe"]["spec"]
    assert (spec["p"], spec["m"]) == (6, 14)
    assert "p = 6 instead of 5" in shown["dualpipe"]["adjusted"]
    assert "m = 14 instead of 13" in shown["dualpipe"]["adjusted"]
    assert shown["interleaved"]["spec"]["m"] == 14


@pytest.mark.parametrize(
    ("more", "names", "left"),
    [({"streams": "rank", "receives": "deferred"}, ["gpipe", "1f1b"], "1F1B is left out: deadlock: rank 2 waits at"),
     ({"memory": 1.5, "sizes": (1.0, 2.0) * 4}, ["1f1b", "zb-auto"], "ZB-auto is left out: one micro-batch's")],
)  # fmt: skip
def test_a_family_whose_order_cannot_run_is_left_out_with_the_reason(
    more: dict[str, Any], names: list[str], left: str
) -> None:
    asked = Spec("gpipe", 4, 8, **more)
    found = compare(asked, names)
    assert [row["family"] for row in found["rows"]] == names[:1]
    assert sum(note.startswith(left) for note in found["notes"]) == 1
    assert [point.spec.family for point in points(asked, names)] == names[:1]
    alone = compare(asked.with_(p=1), ["gpipe", "interleaved"])  # of whose claims other sizes cannot run
    assert len(alone["rows"]) == 2
    with pytest.raises(SpecError):
        compare(asked, names[1:])


def test_v_is_set_only_for_families_with_a_choice_of_v() -> None:
    shown = rows(SETTING, v=4)
    for name, row in shown.items():
        least, _, most = FAMILIES[name].v
        assert row["spec"]["v"] == min(max(4, least), most)
    assert {name: row["spec"]["v"] for name, row in rows(SETTING).items()} == {
        name: family.v[1] for name, family in FAMILIES.items()
    }


def test_gpipe_and_1f1b_are_described_as_having_the_same_bubble_only_when_they_do() -> None:
    equal = compare(SETTING, ["gpipe", "1f1b"])
    assert equal["rows"][0]["bubble"] == equal["rows"][1]["bubble"]
    assert "have the same bubble: 1F1B saves memory (32 and 8" in equal["notes"][0]
    hops = compare(SETTING.with_(costs=Costs(comm=0.5)), ["gpipe", "1f1b"])
    assert "Here they differ" in hops["notes"][0]
    assert "waits for hops" in hops["notes"][0]
    uneven = compare(SETTING.with_(costs=Costs(F=(1.0, 5.0, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0))), ["gpipe", "1f1b"])
    differ = uneven["rows"][0]["makespan"] != uneven["rows"][1]["makespan"]
    assert ("stages differ in cost" in uneven["notes"][0]) == differ


@pytest.mark.parametrize("v", [1, 2, 4])
def test_messages_are_counted_between_ranks_and_v_multiplies_them(v: int) -> None:
    shown = rows(SETTING, "1f1b", "interleaved", "dualpipe", "dualpipev", v=v)
    one = 2 * 7 * 32
    assert shown["1f1b"]["messages"] == shown["dualpipe"]["messages"] == one
    assert shown["interleaved"]["messages"] == 2 * (8 * v - 1) * 32
    assert shown["dualpipev"]["messages"] == 2 * one, "the turn of the V stays on one rank"
    assert all(row["bytes_per_message_units"] == row["messages"] for row in shown.values())


def test_parameters_are_counted_with_their_reason() -> None:
    shown = rows(SETTING)
    assert shown["1f1b"]["parameters"]["ranks"] == [1] * 8
    assert shown["dualpipe"]["parameters"]["max"] == 2
    assert "both replicas" in shown["dualpipe"]["parameters"]["why"]
    assert shown["dualpipev"]["parameters"]["max"] == 1
    for name, row in shown.items():
        if FAMILIES[name].asynchronous:
            assert row["parameters"]["ranks"] == [8 - rank for rank in range(8)]


def test_claims_are_the_talks_with_their_values_here() -> None:
    shown = rows(SETTING, v=2)
    rate = 21 / 117
    expected = {
        "1f1b": (rate, 8), "interleaved": (rate / 2, 12), "zb-h1": (rate / 3, 8), "zb-h2": (0, 16),
        "v-min": (2 * rate / 3, 8 / 3), "v-half": (rate / 2, 4), "v-zb": (0, 8),
    }  # fmt: skip
    assert set(expected) == {name for name, claim in CLAIMS.items() if claim.bubble is not None}
    for name, row in shown.items():
        if name in ("gis", "gis-h"):
            continue
        if name not in expected:
            assert row["claim"] is None
            continue
        claimed = row["claim"]["bubble"]["value"], row["claim"]["memory"]["value"]
        assert claimed == pytest.approx(expected[name], rel=1e-12)
        assert row["claim"]["bubble"]["simulated"] == row["bubble"]["span"]["of_total"]
        assert row["claim"]["memory"]["simulated"] == row["peak_memory"]["max"]


@given(p=st.integers(2, 5), m=st.integers(1, 16), costs=whole_costs(), share=st.sampled_from([1.0, 0.5]))
@example(p=2, m=14, costs=Costs(12.0, 12.0, 12.0, comm=5.0), share=1.0)  # 0.0869565 where 0.0868852 is claimed
@few(8)
def test_a_difference_from_a_claim_has_a_reason_and_only_a_difference_has(
    p: int, m: int, costs: Costs, share: float
) -> None:
    asked = Spec(p=p, m=m, costs=costs, w_share=share)
    for row in compare(asked, [name for name in CLAIMS if name in FAMILIES])["rows"]:
        for cell in row["claim"].values():
            same = cell["simulated"] == pytest.approx(cell["value"], rel=1e-6, abs=1e-7)
            assert (cell["differs"] is None) == same
            if cell["differs"]:
                claimed, simulated = re.findall(r"Claimed (\S+) of .*?, simulated (\S+?)[;:] ", cell["differs"])[0]
                assert claimed != simulated


def memory_claim(spec: Spec) -> dict[str, Any]:
    """The claim on the memory of a spec's own family, as the comparison has it."""
    return claim_of(spec, *simulated(spec))["memory"]  # type: ignore[index]


@pytest.mark.parametrize("p", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("v", [2, 3, 4])
def test_pipeoffloads_memory_of_gis_is_1f1bs_and_of_gis_h_v_plus_1_over_2v_of_it_where_p_is_even(
    p: int, v: int
) -> None:
    gis = memory_claim(Spec("gis", p, 2 * p, v))
    assert (gis["text"], gis["value"], gis["differs"]) == ("M", p, None)
    half = memory_claim(Spec("gis-h", p, 4 * ((p + 1) // 2), v))
    assert half["value"] == pytest.approx((v + 1) / (2 * v) * p)
    assert (half["differs"] is None) == (p % 2 == 0)


@pytest.mark.parametrize("p", [4, 5, 8])
@pytest.mark.parametrize("v", [2, 3, 4])
def test_selective_offload_holds_the_other_chunks_of_a_whole_group(p: int, v: int) -> None:
    group = (p + 1) // 2
    spec = Spec("gis-h", p, 4 * group, v, offload="selective")
    claim = memory_claim(spec)
    assert claim["value"] == pytest.approx((v + 2) / (8 * v) * p)
    assert f"the {v // 2} chunks that are not offloaded" in claim["differs"]
    instant = simulated(spec.with_(costs=Costs(O=0.0)))[1] * v
    assert v // 2 * group <= instant <= v // 2 * group + 2
    assert f"it is {instant / (v * p):.3g} with copies" in claim["differs"]


@pytest.mark.parametrize("family", ["gis", "gis-h"])
def test_full_offload_holds_two_chunks_on_any_number_of_devices_if_copies_keep_up(family: str) -> None:
    for p, v in ((4, 2), (5, 3), (8, 4)):
        group = p if family == "gis" else (p + 1) // 2
        spec = Spec(family, p, 2 * group, v, offload="full", costs=Costs(O=0.0))
        claim = memory_claim(spec)
        assert (claim["text"], claim["value"], claim["differs"]) == ("O(M/(v*p))", None, None)
        assert claim["simulated"] * v == 2
    slow = memory_claim(Spec(family, 8, 32, 4, offload="full", costs=Costs(O=3.0)))
    assert "copies take too long" in slow["differs"]


def test_a_claim_on_memory_without_offload_is_not_held_against_offloaded_activations() -> None:
    spec = Spec("interleaved", 4, 8, 2, offload="full")
    assert claim_of(spec, *simulated(spec)) is None
    notes = compare(Spec("gis", 4, 8, 2), ["gis"])["notes"]
    assert any("PipeOffload" in note for note in notes)
    assert not any("zero-bubble" in note for note in notes)


def test_the_reason_names_what_changes_the_figure_and_its_new_value() -> None:
    def why(spec: Spec, family: str, cell: str) -> str:
        return compare(spec, [family])["rows"][0]["claim"][cell]["differs"]

    asymptotic = why(SETTING, "zb-h1", "bubble")
    assert "with m = 256" in asymptotic
    assert "hops" not in asymptotic
    note = re.search(r"it is ([\d.]+)", asymptotic)
    assert note
    many = {row["family"]: row for row in compare(SETTING.with_(m=256), ["1f1b", "zb-h1"])["rows"]}
    ratio = many["zb-h1"]["bubble"]["span"]["of_total"] / many["1f1b"]["bubble"]["span"]["of_total"]
    assert float(note[1]) == pytest.approx(ratio, abs=1e-3), "the figure in the sentence is a simulated one"
    assert "without hops" in why(SETTING.with_(costs=Costs(comm=0.5)), "zb-h2", "bubble")
    assert "with F = I = W" in why(SETTING.with_(costs=Costs(1.0, 1.0, 0.25)), "zb-h2", "bubble")
    assert "with equal stages" in why(SETTING.with_(costs=Costs(F=(9.0, *[1.0] * 7))), "zb-h2", "bubble")
    again = SETTING.with_(recompute="full")
    assert "without recomputation" in why(again, "1f1b", "memory")
    assert "without recomputation" in why(again.with_(costs=Costs(2.0, 1.0, 2.0)), "zb-h2", "bubble")
    sized = SETTING.with_(sizes=(1.5,) * 16 + (0.5,) * 16)
    assert "with micro-batches of one size" in why(sized, "zb-h1", "bubble")
    assert "with micro-batches of one size" in why(sized, "1f1b", "memory")
    streams = SETTING.with_(streams="rank")
    assert "with messages that wait for no other" in why(streams, "interleaved", "bubble")
    assert "with messages that wait for no other" in why(
        streams.with_(receives="placed", costs=Costs(wire=0.5)), "zb-h2", "bubble"
    )
    assert "with all stages trained" in why(SETTING.with_(frozen=(0, 1)), "zb-h1", "bubble")
    assert "without an output layer" in why(SETTING.with_(costs=Costs(S=0.5, T=1.0)), "zb-h1", "bubble")
    assert "with equal stages" in why(SETTING.with_(layers=(2, *[1] * 7)), "zb-h1", "bubble")
    share = SETTING.with_(w_share=0.25)
    for name in set(CLAIMS) & set(FAMILIES):
        whole, part = (rows(asked, name)[name]["peak_memory"]["max"] for asked in (SETTING, share))
        assert whole == part or "held until W" in why(share, name, "memory")
    assert "in groups of p = 8" in why(SETTING.with_(group=16), "interleaved", "memory")
    assert "with p = 16" in why(SETTING, "zb-h2", "memory")
    assert "with m = " in why(Spec(p=8, m=3), "1f1b", "memory")


@given(p=st.integers(1, 6), cut=st.integers(1, 3), data=st.data())
def test_costs_listed_by_stage_are_spread_so_that_the_model_costs_the_same(
    p: int, cut: int, data: st.DataObject
) -> None:
    listed = tuple(data.draw(st.lists(st.integers(0, 60).map(float), min_size=p * cut, max_size=p * cut)))
    for name, family in FAMILIES.items():
        spec, note = fit(Spec(p=p, m=12, costs=Costs(F=listed)), name)
        stages = spec.p if family.placement == "bidirectional" else spec.p * spec.v
        assert isinstance(spec.costs.F, tuple)
        assert len(spec.costs.F) == stages
        assert sum(spec.costs.F) == pytest.approx(sum(listed))
        assert (stages == p * cut) or f"spread over {stages}" in (note or "")


@pytest.mark.parametrize(
    ("asked", "names", "field"),
    [
        (SETTING, ["1f1b", "nope"], "family"),
        (SETTING, ["1f1b", "1f1b"], "families"),
        (SETTING.with_(costs=Costs(F=(1.0, 2.0, 3.0))), ["1f1b"], "F"),
        (Spec(p=16, m=LIMITS["ops"] // 48), ["1f1b", "gpipe"], "m"),
    ],
)
def test_a_spec_that_cannot_be_compared_is_refused_with_its_field(asked: Spec, names: list[str], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        compare(asked, names)
    assert caught.value.field == field


def test_the_command_prints_one_aligned_line_per_family_and_its_reasons() -> None:
    answer = CliRunner().invoke(command, ["1f1b", "zb-h1", "dualpipe", "-p", "5", "-m", "13"])
    assert answer.exit_code == 0
    head, *lines = answer.output.split("\n\n")[0].splitlines()
    end = head.index("makespan") + len("makespan")
    assert [line.split("  ")[0] for line in lines] == ["1F1B", "ZB-H1", "DualPipe*"]
    assert all(line[end - 1].isdigit() and line[end] == " " for line in lines)
    assert "* DualPipe: p = 6 instead of 5" in answer.output


def test_the_command_gives_all_families_as_json_and_refuses_with_2() -> None:
    answer = CliRunner().invoke(command, ["-p", "8", "-m", "32", "--json"])
    shape = json.loads(answer.output)
    assert [row["family"] for row in shape["rows"]] == list(FAMILIES)
    assert shape == json.loads(json.dumps(compare(SETTING)))
    refused = CliRunner().invoke(command, ["zb-h3", "--json"])
    assert refused.exit_code == 2
    assert json.loads(refused.output)["error"]["field"] == "family"


def test_layers_of_a_model_with_its_ends_are_the_stages_of_costs() -> None:
    model = {"model": "llama3-8b"}
    options = ["--model", "llama3-8b", "-p", "4", "--layers", "2*8,9,7", "--json"]
    shown = json.loads(CliRunner().invoke(command, ["1f1b", "interleaved", *options]).output)["rows"]
    expected = estimate(Setting.read(model | {"p": 4, "layers": [8, 8, 9, 7]})).costs.F
    assert shown[0]["spec"]["costs"]["F"] == pytest.approx(expected, rel=1e-5)
    assert len(shown[1]["spec"]["costs"]["F"]) == 8
    asked = Spec("1f1b", 4, 8, layers=(8, 8, 9, 7))
    assert Preset.of(model).priced(asked).to_json() == shown[0]["spec"]


def test_the_command_works_as_a_program_of_its_own() -> None:
    code = "from backend.cli.compare import compare; compare()"
    done = subprocess.run(
        [sys.executable, "-c", code, "gpipe", "1f1b"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert "have the same bubble" in done.stdout
