"""Configurations of training frameworks: what is written, that it is read back, what is refused, with the nearest."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

import bubbleline as bl
from app import cli
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.configurations import megatron, torchtitan
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS, frameworks_of
from backend.schedule.interop.configurations.read import read_configuration
from backend.schedule.interop.configurations.torchtitan import SCHEDULES, dealt, torchtitan_arguments
from backend.schedule.interop.configurations.write import CONFIGURED, configuration
from backend.schedule.interop.megatron_layout import StageLayout, read_layout, write_layout
from backend.schedule.spec import Spec
from tests.conftest import error_of

DEEPSEEK = "Et*3|(tt|)*29,m|L"  # Megatron-LM's documentation: PP 16, VP 2
LAYOUTS = (DEEPSEEK, "Ett|(tt|)*6,ttL", "Et|(t|)*30,tL", "Et*16|(t*16|)*2,t*12mL", "E|(t|)*4,L", "EtL", "Ettm|L")
LARGE = {"model": "deepseek-v3", "tp": 2, "expert": 64, "data": 32, "zero": 1, "mtp": 1, "mtp_stage": 30,
         "layers": (3, *(2,) * 29, 0, 0)}  # fmt: skip
SCRIPT = """
TP=2
PP=${PP:-8}
LAYERS=32  # of the model
MODEL_ARGS=(
    --num-layers $LAYERS --hidden-size 5120
    --num-attention-heads 40 --seq-length 4096 --swiglu
    --ffn-hidden-size 13824   # as published
)
PARALLEL_ARGS=(
\t--tensor-model-parallel-size ${TP}
    --pipeline-model-parallel-size "$PP"
    --num-layers-per-virtual-pipeline-stage 2
    --sequence-parallel
)
torchrun --nproc_per_node 8 --nnodes=4 pretrain_gpt.py ${MODEL_ARGS[@]} "${PARALLEL_ARGS[@]}" \\
  --micro-batch-size 1 --global-batch-size=128 --bf16 --recompute-activations
"""


@pytest.mark.parametrize("text", LAYOUTS)
def test_a_layout_is_written_as_megatrons_users_write_it(text: str) -> None:
    assert write_layout(read_layout(text)) == text


@given(st.lists(st.integers(0, 5), min_size=1, max_size=24).filter(any), st.integers(0, 2))
def test_every_layout_is_read_back(layers: list[int], mtp: int) -> None:
    layout = StageLayout(tuple(layers), (0,) * (len(layers) - 1) + (mtp,))
    assert read_layout(write_layout(layout)) == layout


@pytest.mark.parametrize("framework", ["megatron", "nemo"])
@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (Spec("interleaved", 16, 64, 2), LARGE),
        (Spec("1f1b", 4, 16, recompute="full"), {"model": "llama3-70b", "tp": 8, "data": 2, "zero": 1}),
        (Spec("interleaved", 4, 64, 6, recompute="selective"), {"model": "llama3-70b", "tp": 4, "data": 4}),
        (Spec("1f1b", 4, 64), {"model": "mixtral-8x7b", "expert": 8, "data": 8, "context": 2, "micro_batch": 2}),
        (Spec("1f1b", 6, 12), {"model": "custom", "hidden": 2048, "layers": 25, "gated": True, "qk_norms": True}),
        (Spec("interleaved", 4, 8, 2, group=4), {"model": "gpt3-175b", "tp": 8, "sequence_parallel": False}),
        (Spec("1f1b", 8, 32, recompute="full", spared=2), {"model": "gemma2-9b"}),
        (Spec("interleaved", 4, 8, 2), None),
    ],
)
def test_what_is_written_is_read_back(framework: str, spec: Spec, fields: dict[str, Any] | None) -> None:
    preset = None if fields is None else Preset.of(fields)
    written = configuration(framework, spec, preset).text
    found = read_configuration(written)
    read_spec = Spec.from_json(found.spec)
    same = ("family", "p", "m", "v", "group", "recompute", "spared")
    assert [getattr(read_spec, key) for key in same] == [getattr(spec, key) for key in same]
    assert (found.preset is None) == (preset is None)
    if preset is None or found.preset is None:
        return
    cut, again = (each.estimate(spec).setting for each in (preset, Preset.of(found.preset)))
    for key in ("layers", "tp", "context", "expert", "data", "zero", "sequence_parallel", "mtp_stage", "p", "v"):
        if framework == "nemo" and key == "data":
            assert again.data == cut.data  # from torchrun's nodes
        assert getattr(again, key) == getattr(cut, key), key
    figures = [each.estimate(spec).footprint.stages["weights"] for each in (preset, Preset.of(found.preset))]
    assert figures[0] == figures[1]


@pytest.mark.parametrize("family", [name for name in megatron.FORK if name != "interleaved"])
@pytest.mark.parametrize("fields", [None, {"model": "llama3-8b"}])
def test_the_schedules_of_the_fork_are_read_back(family: str, fields: dict[str, Any] | None) -> None:
    memory = 6.0 if family == "zb-auto" else None
    spec = Spec(family, 4, 8, FAMILIES[family].v[1], memory=memory)
    preset = None if fields is None else Preset.of(fields)
    found = read_configuration(configuration("zero-bubble", spec, preset).text)
    assert Spec.from_json(found.spec) == spec
    codes = {note.code for note in found.notes}
    assert ("configuration.searched_by_fork" in codes) == family.startswith("zb-")


def test_flags_that_are_not_there_mean_what_the_framework_takes() -> None:
    v_shape = "--pipeline-model-parallel-size 4 --global-batch-size 8 --zero-bubble-v-schedule"
    found = read_configuration(v_shape)
    assert (found.spec["family"], found.spec["v"]) == ("v-zb", 2)
    for pending in ("", " --zero-bubble-max-pending-backward auto"):
        found = read_configuration(f"--pipeline-model-parallel-size 4 --enable-zero-bubble{pending}")
        assert (found.spec["family"], found.spec.get("memory")) == ("zb-auto", None)
        assert "configuration.adaptive_memory" in {note.code for note in found.notes}
    uneven = Spec("interleaved", 4, 10, 2)  # torch's rule makes groups of 5, Megatron-LM's of p
    for spec in (uneven.with_(group=5), uneven.with_(group=4)):
        assert read_configuration(configuration("megatron", spec, None).text).spec["group"] == spec.group
    assert read_configuration(configuration("nemo", uneven, None).text).spec["group"] == 5
    without = configuration("zero-bubble", Spec("interleaved", 4, 8, 2), None)
    assert "configuration.chunks_need_layers" in {note.code for note in without.notes}
    grouped = "--microbatch-group-size-per-virtual-pipeline-stage 4"
    assert "group" not in read_configuration(f"--pipeline-model-parallel-size 4 {grouped}").spec


@pytest.mark.parametrize(
    ("framework", "spec", "field", "nearest"),
    [
        ("torch", Spec("gpipe", 4, 8, lifo=True), "lifo", False),
        ("torch", Spec("interleaved", 4, 8, 2, group=8), "group", None),
        ("zero-bubble", Spec("interleaved", 4, 8, 2, group=8), "group", None),
    ],
)
def test_an_order_that_the_framework_would_change_is_refused(
    framework: str, spec: Spec, field: str, nearest: object
) -> None:
    with pytest.raises(SpecError) as caught:
        configuration(framework, spec, None)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
    assert configuration("torch-csv", spec, None).text
    assert configuration(framework, spec.with_(**{field: nearest}), None).text


def test_the_flags_of_the_documentation_have_its_layout() -> None:
    written = configuration("megatron", Spec("interleaved", 16, 64, 2), Preset.of(LARGE)).text
    assert f"--pipeline-model-parallel-layout '{DEEPSEEK}'" in written
    assert "--num-virtual-stages-per-pipeline-rank" not in written  # the layout says it
    assert "torchrun --nnodes 128 --nproc-per-node 8 pretrain_gpt.py" in written
    assert "--global-batch-size 2048" in written
    assert "--moe-layer-freq '([0]*3+[1]*58)'" in written
    bridge = configuration("nemo", Spec("interleaved", 16, 64, 2), Preset.of(LARGE)).text
    assert f"model.pipeline_model_parallel_layout='\"{DEEPSEEK}\"'" in bridge
    assert "model.virtual_pipeline_model_parallel_size=2" in bridge


@pytest.mark.parametrize(("memory", "pending"), [(None, 4), (3.5, 3), (8.0, 8)])
def test_zero_bubble_holds_no_more_than_the_limit_of_the_plan(memory: float | None, pending: int) -> None:
    written = configuration("zero-bubble", Spec("zb-auto", 4, 6, memory=memory), None).text
    assert f"--zero-bubble-max-pending-backward {pending} " in written


def test_a_script_with_variables_and_arrays_is_read() -> None:
    found = read_configuration(SCRIPT)
    assert dict(found.spec) == {"family": "interleaved", "p": 8, "m": 64, "v": 2, "recompute": "selective"}
    assert found.preset is not None
    own = {"layers": 32, "hidden": 5120, "attention_heads": 40, "ffn": 13824, "gated": True, "tp": 2, "data": 2}
    assert {key: found.preset.get(key, 32) for key in own} == own
    assert len(found.notes) == 1  # the machine


@pytest.mark.parametrize("unit", ["a=(\n", "a=((\n", "${a:-", "a=$a$a\n", "--x $y ", "'"])
def test_a_text_made_to_be_slow_is_not(unit: str) -> None:
    """Patterns that look again at all that follows take minutes for so much: the test would hang."""
    text = "--pipeline-model-parallel-size 4\n" + unit * (40_000 // len(unit))
    assert read_configuration(text).spec["p"] == 4


def test_arguments_of_a_yaml_file_are_read() -> None:
    lines = ["MODEL_ARGS:", "  --pipeline-model-parallel-size: 4", "  --sequence-parallel: true", "  --swiglu: false",
             "  --num-layers: 32", "  --hidden-size: 512", "  --num-attention-heads: 8", "  --global-batch-size: 16",
             "  --tensor-model-parallel-size: 2", "  --micro-batch-size: 1"]  # fmt: skip
    found = read_configuration("\n".join(lines))
    assert (found.spec["p"], found.spec["m"]) == (4, 16)
    assert found.preset == {"model": "custom", "hidden": 512, "attention_heads": 8, "tp": 2}


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        ("--decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 5", [7, 10, 10, 5]),
        ("--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split --num-layers 30",
         [7, 8, 8, 7]),
        ("--num-virtual-stages-per-pipeline-rank 2 --decoder-last-pipeline-num-layers 2 --num-layers 14",
         [2, 2, 2, 1, 2, 2, 2, 1]),
    ],
)  # fmt: skip
def test_uneven_stages_are_read_from_every_way_to_say_them(flags: str, layers: list[int]) -> None:
    model = "--num-layers 32 --hidden-size 64 --num-attention-heads 4 --pipeline-model-parallel-size 4"
    found = read_configuration(f"{model} {flags} --micro-batch-size 1 --global-batch-size 8")
    assert found.preset is not None
    assert found.preset["layers"] == layers


WRONG = {
    "--pipeline-model-parallel-size four": "pipeline-model-parallel-size",
    "--pipeline-model-parallel-size 4 --zero-bubble-v-schedule --zero-bubble-v-schedule-mem-setup max":
        "zero-bubble-v-schedule-mem-setup",
    "--pipeline-model-parallel-size 4 --zero-bubble-max-pending-backward much": "zero-bubble-max-pending-backward",
    "--pipeline-model-parallel-size $PP": "pipeline-model-parallel-size",
    "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et|tL": "pipeline-model-parallel-layout",
    "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et|x": "layers",
    "--pipeline-model-parallel-size 2 --global-batch-size 7 --micro-batch-size 2": "configuration",
    "--pipeline-model-parallel-size 3 --nproc-per-node 8": "configuration",
    "--parallelism.pipeline_parallel_degree 4 --parallelism.pipeline_parallel_schedule X":
        "parallelism.pipeline_parallel_schedule",
    "--parallelism.pipeline_parallel_degree 4 --parallelism.pipeline_parallel_schedule_csv a.csv":
        "parallelism.pipeline_parallel_schedule_csv",
    "0F0,0B0": "configuration",
    "": "configuration",
}  # fmt: skip


@pytest.mark.parametrize(("text", "field"), WRONG.items())
def test_a_wrong_flag_is_named(text: str, field: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_configuration(text)
    assert caught.value.field == field


@given(
    st.text(max_size=300), st.sampled_from(["--pipeline-model-parallel-size ", "model.pipeline_model_parallel_size="])
)
def test_any_text_is_read_or_refused(text: str, sign: str) -> None:
    with suppress(SpecError):
        assert read_configuration(sign + text).spec["p"]


NAMED = [f"--{flag.name}" for flag in (*megatron.FLAGS, *megatron.READ_ONLY)] + [
    f"--{name}" for name in torchtitan.NAMES.values()
]
ODD = ["", "0", "1", "-1", "2", "3", "7", "1000000000", "99999999999", "x", "1.5", "nan", "[0,0,1]", "Et|tL", "GPipe"]


@given(st.dictionaries(st.sampled_from(NAMED), st.sampled_from(ODD), max_size=12))
def test_flags_with_odd_values_are_read_or_refused_by_name(flags: dict[str, str]) -> None:
    text = "\n".join([f"{name}={value}" for name, value in flags.items()])
    with suppress(SpecError):
        found = read_configuration(f"--pipeline-model-parallel-size=2\n{text}")
        assert found.spec["p"] >= 1


def test_torchtitans_own_default_of_the_replicas_is_read() -> None:
    text = "--parallelism.pipeline_parallel_degree 4 --parallelism.data_parallel_shard_degree -1"
    assert read_configuration(f"{text} --parallelism.num_pp_microbatches 8").spec["m"] == 8


@given(st.lists(st.integers(1, 5), min_size=2, max_size=12))
def test_torchtitan_cuts_the_layers_as_they_are_given(layers: list[int]) -> None:
    settings = {"family": "1f1b", "p": len(layers), "m": 4, "v": 1, "batch": 4,
                "layout": StageLayout(tuple(layers), (0,) * len(layers))}  # fmt: skip
    flags = dict(line.removeprefix("--").split(" ", 1) for line in torchtitan_arguments(settings))
    section = "parallelism.pipeline_parallel_"
    if f"{section}layers_per_stage" in flags:
        first, last = (int(flags[f"{section}{end}_stage_less_layers"]) for end in ("first", "last"))
        each = int(flags[f"{section}layers_per_stage"])
        assert -(-(sum(layers) + first + last) // each) == len(layers)
        assert dealt(sum(layers), len(layers), first, last) == tuple(layers)
    else:
        modules = json.loads(flags[f"{section}module_fqns_per_model_part"].strip('"').replace('\\"', '"'))
        assert [sum(name.startswith("layers.") for name in part) for part in modules] == layers
        assert (modules[0][0], modules[-1][-1]) == ("tok_embeddings", "output")


@pytest.mark.parametrize("family", SCHEDULES)
def test_torchs_own_schedules_are_named_as_torch_names_them(family: str) -> None:
    schedules = pytest.importorskip("torch.distributed.pipelining.schedules")
    assert schedules.get_schedule_class(SCHEDULES[family])
    spec = Spec(family, 4, 8, FAMILIES[family].v[1])
    found = read_configuration(configuration("torch", spec, None).text)
    assert (found.spec["family"], found.spec["p"], found.spec["m"], found.spec["v"]) == (family, 4, 8, spec.v)


def test_deepspeeds_file_has_the_batch_of_the_step() -> None:
    made = configuration(
        "deepspeed", Spec("1f1b", 4, 16, recompute="full"), Preset.of({"model": "llama3-8b", "data": 2})
    )
    shape = json.loads(made.text)
    assert shape["train_batch_size"] == 32
    assert shape["gradient_accumulation_steps"] == 16
    assert shape["pipeline"] == {"stages": 4, "partition": "uniform", "activation_checkpoint_interval": 1}


@pytest.mark.parametrize(
    ("framework", "spec", "field", "nearest"),
    [
        ("megatron", Spec("zb-h2", 4, 8), "family", "1f1b"),
        ("torch", Spec("dualpipe", 4, 8, 2), "family", "interleaved-zb"),
        ("deepspeed", Spec("interleaved", 4, 8, 2), "family", "zb-h1"),
        ("megatron", Spec("interleaved", 4, 2, 2), "m", 4),
        ("zero-bubble", Spec("interleaved", 4, 9, 2), "m", 8),
        ("deepspeed", Spec("1f1b", 4, 8, recompute="selective"), "recompute", "full"),
        ("megatron", Spec("interleaved", 4, 8, 2, recompute=("full", "none")), "recompute", "full"),
        ("megatron", Spec("1f1b", 4, 8, offload="full"), "offload", "none"),
        ("nemo", Spec("1f1b", 4, 8, recompute="full", recompute_at="ahead"), "recompute_at", "backward"),
        ("torch", Spec("1f1b", 4, 8, recompute="full", spared=1), "spared", 0),
    ],
)
def test_what_a_framework_does_not_run_is_said_with_the_nearest_that_it_does(
    framework: str, spec: Spec, field: str, nearest: Any
) -> None:
    with pytest.raises(SpecError) as caught:
        configuration(framework, spec, None)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
    assert FRAMEWORKS[framework].refused(spec.with_(**{field: nearest})) in (None, "m")
    assert framework not in frameworks_of(spec, None)


def test_zero_beyond_the_optimizer_is_for_torch_alone() -> None:
    preset = Preset.of({"model": "llama3-8b", "data": 4, "zero": 3})
    assert frameworks_of(Spec("1f1b", 4, 8), preset) == ["torch", "torch-csv"]
    with pytest.raises(SpecError) as caught:
        configuration("megatron", Spec("1f1b", 4, 8), preset)
    assert (caught.value.field, caught.value.nearest) == ("zero", 1)


def test_every_door_gives_the_same_configuration(client: FlaskClient, tmp_path: Path) -> None:
    options = ["-p", "4", "-m", "16", "--model", "llama3-8b", "--tp", "2"]
    shown = CliRunner().invoke(cli, ["export", "1f1b", *options, "--format", "megatron"])
    assert shown.exit_code == 0
    assert "# Data, tokenizer" in shown.stderr
    query = "family=1f1b&p=4&m=16&m.model=llama3-8b&m.tp=2"
    answer = client.get(f"/api/configurations?{query}").get_json()["configurations"]
    assert [each["name"] for each in answer] == list(CONFIGURED)
    assert answer[0]["text"] == shown.stdout
    made = bl.schedule("1f1b", p=4, m=16, model=bl.model("llama3-8b", tp=2))
    assert made.configuration("megatron") == shown.stdout
    refused = client.get("/api/configurations?family=zb-h2").get_json()["configurations"][0]
    assert (refused["text"], refused["error"]["nearest"]) == (None, "1f1b")
    assert error_of(client.get("/api/configurations?family=x"))["field"] == "family"

    back = client.post("/api/configurations", json={"text": shown.stdout}).json
    assert back is not None
    assert "m.model=llama3-8b" in back["query"]
    assert "m.tp=2" in back["query"]
    assert (back["spec"]["p"], back["spec"]["m"]) == (4, 16)
    assert bl.from_configuration(shown.stdout).step_time == pytest.approx(made.step_time)
    file = tmp_path / "run.sh"
    file.write_text(shown.stdout)
    read = json.loads(CliRunner().invoke(cli, ["import", str(file), "--json"]).stdout)
    assert (read["format"], read["query"]) == ("configuration", back["query"])
    assert "a training with 1F1B, p 4, m 16, v 1" in CliRunner().invoke(cli, ["import", str(file)]).stdout
    wrong = error_of(client.post("/api/configurations", json={"text": "--pipeline-model-parallel-size x"}))
    assert wrong["field"] == "pipeline-model-parallel-size"
    assert error_of(client.post("/api/configurations", json={"text": 3}))["field"] == "text"
