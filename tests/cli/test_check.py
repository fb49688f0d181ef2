"""The command `check` in CI: limits, exit codes, JUnit XML, annotations of GitHub Actions."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import bubbleline as bl
from app import cli
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv


def check(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, ["check", *map(str, args)])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """1F1B and ZB-H1 of 4 ranks and 8 micro-batches, and an order that cannot run."""
    texts = {name: bl.schedule(name, p=4, m=8).to_torch_csv() for name in ("1f1b", "zb-h1")}
    texts["broken"] = "rank,1,2\n0F0,0B0\n1F0\n"
    found = {name: tmp_path / f"{name}.csv" for name in texts}
    for name, path in found.items():
        path.write_text(texts[name])
    return found


def test_a_limit_that_is_exceeded_exits_with_1_and_says_by_what(files: dict[str, Path]) -> None:
    done = check(files["1f1b"], files["zb-h1"], "--max-bubble", "12%")
    assert done.exit_code == 1
    assert "1f1b.csv: the bubble is 27.27% of the step, over the limit of 12%\n" in done.output
    assert "zb-h1.csv: torch's CSV: a schedule of 96 ops" in done.output
    assert "zb-h1.csv: the bubble" not in done.output
    assert check(files["1f1b"], "--max-bubble", "0.28").exit_code == 0
    assert check(files["zb-h1"], "--max-bubble", "0.12", "--comm", "1").exit_code == 1, "at the costs given"
    model = ("--model", "llama3-8b", "--machine", "h100", "--tp", "2")
    assert check(files["1f1b"], *model, "--max-gb", "70").exit_code == 0
    done = check(files["1f1b"], *model, "--max-gb", "30.5")
    assert done.exit_code == 1
    assert "1f1b.csv: rank 0 needs 40.69 GB, over the limit of 30.5 GB\n" in done.output


def test_the_first_op_that_is_not_the_familys_is_named(files: dict[str, Path]) -> None:
    assert check(files["zb-h1"], "--family", "zb_h1").exit_code == 0
    done = check(files["zb-h1"], "--family", "1F1B")
    assert done.exit_code == 1
    assert "zb-h1.csv: rank 0 does 0I0 as op 5, 1F1B does 0B0 there\n" in done.output
    assert "are placed looped, those of V-ZB v" not in check(files["1f1b"], "--family", "gpipe").output
    assert (
        "it is no order of DualPipeV: v: DualPipeV takes v exactly 2"
        in check(files["1f1b"], "--family", "dualpipev").output
    )


def test_an_order_of_a_family_with_options_is_checked_with_them(tmp_path: Path) -> None:
    made = bl.schedule("interleaved", p=2, m=8, v=2, group=4)
    file = tmp_path / "order.csv"
    file.write_text(made.to_torch_csv())
    assert check(file, "--family", "interleaved").exit_code == 1
    assert check(file, "--family", "interleaved", "--group", "4").exit_code == 0
    assert bl.check(file, family="interleaved", group=4) == bl.check(made, family="interleaved") == ()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--max-bubble", "12"], "max_bubble: max_bubble is a share from 0 to 1"),
        (["--max-bubble", "much"], "a percentage such as 12%"),
        (["--max-gb", "70"], "max_gb needs a model"),
        (["--max-gb", "-1", "--model", "llama3-8b"], "max_gb must be from 0"),
        (["--family", "1f2b"], "nearest legal value: 1f1b"),
        (["-m", "9"], "nearest legal value: 8"),
    ],
)
def test_an_illegal_limit_exits_with_2_and_a_way_out(files: dict[str, Path], args: list[str], words: str) -> None:
    done = check(files["1f1b"], *args)
    assert done.exit_code == 2
    assert words in done.output


def test_annotations_name_the_file_the_line_of_the_rank_and_what_is_wrong(files: dict[str, Path]) -> None:
    done = check(files["broken"], files["zb-h1"], "--github", "--max-bubble", "5%", "--family", "1f1b")
    lines = [line for line in done.output.splitlines() if line.startswith("::")]
    broken, other = files["broken"].as_posix(), files["zb-h1"].as_posix()
    assert done.exit_code == 1
    assert lines[0].startswith(f"::error file={broken},line=3,title=bubbleline check::line 3: rank 1 never does 1B0")
    assert lines[1:] == [
        f"::error file={other},line=1,title=bubbleline check::the bubble is 11.11%25 of the step, over the limit of "
        "5%25",
        f"::error file={other},line=1,title=bubbleline check::rank 0 does 0I0 as op 5, 1F1B does 0B0 there",
    ]


def test_the_outcome_is_written_as_junit(files: dict[str, Path], tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert check(*files.values(), "--max-bubble", ".2", "--junit", report).exit_code == 1
    suite = ElementTree.parse(report).getroot()
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["6", "2", "1"]
    cases = {(Path(case.get("classname", "")).stem, case.get("name")): [each.tag for each in case] for case in suite}
    assert cases == {
        ("1f1b", "order"): [],
        ("1f1b", "bubble"): ["failure"],
        ("zb-h1", "order"): [],
        ("zb-h1", "bubble"): [],
        ("broken", "order"): ["failure"],
        ("broken", "bubble"): ["skipped"],
    }


def test_a_file_with_messages_is_timed_with_its_own_on_the_streams_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    spec = registry.read({"family": "interleaved", "p": 4, "m": 8, "v": 2, "streams": "rank", "receives": "placed"})
    file.write_text(torch_csv.dump(registry.order(spec)))
    own = CliRunner().invoke(cli, ["check", str(file), "--f", "1", "--streams", "rank"])
    assert "makespan 28.5," in own.output
    plain = torch_csv.dump(registry.order(spec.with_(streams="none", receives="torch")))
    file.write_text(plain)
    lowered = CliRunner().invoke(cli, ["check", str(file), "--streams", "rank"])
    assert "makespan 33.5," in lowered.output
