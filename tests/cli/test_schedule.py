"""The commands on schedules: their output and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from app import cli
from backend.cli import schedule as schedule_commands
from backend.schedule.families import registry
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.spec import Spec


def call(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(args), input=stdin)


@pytest.mark.parametrize("family", registry.FAMILIES)
def test_show_draws_every_family_and_its_law(family: str) -> None:
    done = call("show", family, "-p", "4", "-m", "8")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert [line[:4] for line in lines[1:5]] == ["  0 ", "  1 ", "  2 ", "  3 "]
    assert len({len(line) for line in lines[1:5]}) == 1
    assert "of total" in done.output
    assert "law: " in done.output


def test_show_and_compare_take_the_title_of_a_family() -> None:
    assert call("show", "ZB-V", "-p", "4").output == call("show", "v-zb", "-p", "4").output
    assert call("compare", "Interleaved 1F1B", "ZBV").output == call("compare", "interleaved", "v-zb").output


def test_show_draws_ops_where_they_run() -> None:
    done = call("show", "1f1b", "-p", "2", "-m", "2", "--columns", "18")
    assert done.output.splitlines()[1:3] == ["  0 F0F1....B0--..B1--", "  1 ..F0B0--F1B1--...."]


def test_show_json_is_the_result_with_times_only_on_request() -> None:
    plain = json.loads(call("show", "zb-h1", "--json").output)
    timed = json.loads(call("show", "zb-h1", "--json", "--times").output)
    assert "start" not in plain
    assert timed.pop("start")[0][0] == 0.0
    assert timed.pop("end")[0][0] == 1.0
    assert plain == timed
    assert plain["spec"]["family"] == "zb-h1"


def test_show_takes_costs_as_numbers_and_as_lists() -> None:
    shape = json.loads(
        call("show", "1f1b", "-p", "2", "-m", "4", "--f", "1,2", "--i", "3", "--comm", "0.5", "--json").output
    )
    costs = {"F": [1.0, 2.0], "I": 3.0, "W": 1.0, "comm": 0.5, "FB": None, "S": None, "T": None, "O": None}
    costs |= {"R": None, "wire": 0.0}
    assert shape["spec"]["costs"] == costs
    runs = json.loads(call("show", "1f1b", "--layers", "3*2,1", "--f", "4", "--json").output)["spec"]
    assert runs["layers"] == [2, 2, 2, 1]
    assert "k*x stands for k" in call("show", "1f1b", "--f", "0*2").output
    assert "k*x stands for k" in call("show", "1f1b", "--recompute", "full*2").output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["show", "dualpipe", "-p", "3"], "nearest legal value: 4"),
        (["show", "nope"], "family"),
        (["show", "1f1b", "-p", "1000000000"], "p must be from 1 to 1024"),
        (["show", "1f1b", "-p", "x"], "not a valid integer"),
        (["show", "1f1b", "--f", "nan"], "finite"),
        (["show", "1f1b", "--f", "1,x"], "numbers separated by commas"),
        (["show", "1f1b", "--comm", "-1"], "comm must be from 0"),
        (["export", "dualpipe", "--format", "torch-csv"], "every stage on two"),
        (["export", "1f1b", "--format", "bmp"], "bmp"),
        (["export", "1f1b", "--format", "png", "--machine", "h100"], "machine: machine means nothing without --model"),
        (["show", "1f1b", "--model", "llama3-8b", "--tp", "3"], "tp: tp must divide the 32 attention heads"),
    ],
)
def test_bad_input_exits_with_2_and_a_sentence(args: list[str], words: str) -> None:
    done = call(*args)
    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output


def test_show_json_of_an_illegal_spec_is_the_error_shape() -> None:
    done = call("show", "dualpipe", "-p", "4", "-m", "7", "--json")
    assert done.exit_code == 2
    shape = json.loads(done.output)
    assert shape["spec"] == {"family": "dualpipe", "p": 4, "m": 7}
    error = shape["error"]
    assert isinstance(error.pop("code"), str)
    assert isinstance(error.pop("params"), dict)
    assert error == {
        "field": "m", "value": 7, "limit": 8, "nearest": 8, "message": "DualPipe needs at least 2p = 8 micro-batches",
    }  # fmt: skip


def test_sweep_prints_every_line_in_order_and_continues_after_an_illegal_one() -> None:
    lines = ['{"family":"gpipe","p":2,"m":2}', '{"family":"gpipe","p":0}', "{", '{"p":NaN}', "", '{"family":"zb-h2"}']
    done = call("sweep", stdin="\n".join(lines))
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.output.splitlines()]
    assert done.exit_code == 2
    assert [answer.get("error", {}).get("field") for answer in answers] == [None, "p", "spec", "p", None]
    assert answers[0]["order"] == ["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"]
    assert call("sweep", stdin=lines[0]).exit_code == 0
    assert call("sweep", stdin=f"\ufeff{lines[0]}\n").exit_code == 0  # a byte order mark, as PowerShell writes one


def test_export_check_export_gives_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    assert call("export", "dualpipev", "-p", "3", "-m", "7", "--format", "torch-csv", "-o", str(file)).exit_code == 0
    done = call("check", str(file))
    assert done.exit_code == 0
    assert "a schedule of" in done.output
    assert "at unit costs: makespan" in done.output
    costs = ["--f", "2", "--fb", "5", "--comm", "0.5", "--memory", "2"]
    shown = call("show", "dualpipev", "-p", "3", "-m", "7", *costs).output.splitlines()
    checked = call("check", str(file), *costs).output.splitlines()
    assert checked[1].startswith(f"at these costs: {shown[4].split('   ')[0]},")
    assert [line for line in shown if "memory" in line] == checked[2:]
    assert "it shows p 3, m 7, v 2, placement v" in done.output
    file.write_text("\ufeff0F0;1F0;1B0;0B0\n2F0;3F0;3B0;2B0\n")
    assert "p 2, m 1, v 2, placement custom (rank 0: 0 1, rank 1: 2 3)\n" in call("check", str(file)).output
    file.write_text("0F0,0F1,0B0,0W0,0B1,0W1\n")
    assert "order.csv: torch's CSV with the letters of 2024" in call("check", str(file)).output


def test_an_export_to_torch_says_what_its_csv_leaves_out_of_recomputation() -> None:
    plain = call("export", "1f1b", "--format", "torch-csv")
    asked = ("--recompute", "full", "--recompute-at", "ahead", "--spared", "2")
    done = call("export", "1f1b", "--format", "torch-csv", *asked)
    assert (done.stdout, plain.stderr) == (plain.stdout, "")
    for words in ("checkpoint", "before the gradient arrives", "which micro-batches recompute"):
        assert words in done.stderr


def test_check_prints_the_first_violation_and_exits_with_1(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0B0\n1F0\n")
    done = call("check", str(file))
    assert done.exit_code == 1
    assert done.output == "order.csv: line 2: rank 1 never does 1B0, the full backward of micro-batch 0 in stage 1\n"
    file.write_bytes(b"\xff\xfe\x00")
    assert call("check", str(file)).exit_code == 1


def test_export_writes_a_chrome_trace_and_json() -> None:
    trace = json.loads(call("export", "gpipe", "--format", "chrome-trace").output)
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) == 4 * 16
    shape = json.loads(call("export", "gpipe", "--format", "json").output)
    assert len(shape["end"]) == 4


def test_a_schedule_with_a_model_has_its_times_but_for_those_given_and_its_tokens_and_memory() -> None:
    model = ["--model", "llama3-8b", "-p", "4", "--tp", "2", "--no-heads"]
    shape = json.loads(call("show", "zb-h1", *model, "--w", "7", "--json").output)
    priced = Preset.of({"model": "llama3-8b", "tp": 2, "heads": False}).priced(Spec("zb-h1"))
    costs = priced.to_json()["costs"]
    assert shape["spec"]["costs"] == costs | {"W": 7.0}
    assert shape["units"]["devices"] == 8
    text = call("show", "zb-h1", *model).output
    assert "tokens/s (" in text
    assert "GB of 80 GB on device" in text
    file = json.loads(call("export", "zb-h1", *model, "--format", "json").output)
    assert file["spec"]["costs"] == costs


def test_a_schedule_is_exported_as_svg_png_and_html(tmp_path: Path) -> None:
    args = ["export", "interleaved", "-p", "4", "-m", "8", "-v", "2", "--format"]
    root = ElementTree.fromstring(call(*args, "svg").output)
    boxes = [each.get("class", "") for each in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert sum(each.startswith("pic-f") for each in boxes) == sum(each.startswith("pic-b") for each in boxes) == 64
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Interleaved 1F1B"
    both = ElementTree.fromstring(call("export", "dualpipe", "-p", "2", "-m", "4", "--format", "svg").output)
    numbers = [each.text for each in both.iter() if each.get("class") == "pic-op"]
    assert " ".join(map(str, numbers)) == "0 2 1 2 3/0 3 1 1 2 0 3 0 1/2 1 3 3"
    assert call(*args, "png", "-o", str(tmp_path / "a.png")).exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    page = call(*args, "html").output
    data = json.loads(page.partition('id="bubbleline-data">')[2].partition("</script>")[0])
    assert [each["family"] for each in data["specs"]] == ["interleaved"]
    assert "Content-Security-Policy" in page


def test_a_page_of_laws_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_commands, "table", lambda: ("the laws\n", True))
    page = tmp_path / "laws.md"
    assert (call("laws", "-o", str(page)).exit_code, page.read_text()) == (0, "the laws\n")
    page.write_bytes(b"\xff")
    assert call("laws", "--check", "-o", str(page)).output == "laws.md is stale\n"
    done = call("laws", "-o", str(page / "laws.md"))
    assert done.exit_code == 1
    assert done.output == f"Error: Could not open file '{page / 'laws.md'}': Not a directory\n"
