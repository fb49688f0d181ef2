"""`python app.py lessons`: list, check, export."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli.lessons import lessons
from backend.lessons.export import elements
from tests.lessons.support import HEAD, SAMPLES

module = sys.modules[lessons.callback.__module__]


@pytest.fixture
def run(monkeypatch, tmp_path: Path):
    """Run the command with the samples as the lecturer's folder, and a bundle that is small."""
    built = tmp_path / "built"
    for name in ("js/lesson-file.js", "css/learn.css"):
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_text("/* built */ '</script>'")
    monkeypatch.setattr(module, "BUILT", built)
    monkeypatch.setenv("BUBBLELINE_LESSONS", str(SAMPLES))
    return lambda *words: CliRunner().invoke(lessons, words)


def test_list_shows_each_lesson_with_its_minutes_and_questions(run):
    found = run("list")
    assert found.exit_code == 0
    assert re.search(r"1  bubble +5 min   4 questions  GPipe and its bubble", found.output)
    assert "GPipe 与气泡" in run("list", "--lang", "zh").output
    assert len({line.index(" min ") for line in found.output.splitlines()}) == 1, "names of any length are one column"


def test_check_names_file_line_and_cause_and_leaves_with_1(run, tmp_path: Path):
    assert run("check", str(SAMPLES)).output == "3 files, 0 mistakes\n"
    folder = tmp_path / "en"
    folder.mkdir()
    (folder / "01-a.md").write_text(HEAD + ":::{scene} ?family=gpipe&p=2\nA caption.\n:::\n\n{{ gpipe : x }}\n")
    found = run("check", str(tmp_path))
    assert found.exit_code == 1
    assert "en/01-a.md:10: x is no value; there are bubble" in found.output
    assert "1 files, 1 mistakes" in found.output
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("check", str(empty)).exit_code == 1


def test_export_writes_one_file_with_its_own_policy_and_hidden_answers(run, tmp_path: Path):
    target = tmp_path / "lesson.html"
    found = run("export", "order", "-o", str(target))
    assert found.exit_code == 0, found.output
    text = target.read_text()
    assert "default-src 'none'" in text
    assert text.count("<script") == 2
    assert '<bubble-line family="gpipe" p="4" m="8"' in text
    assert "Its gradient is there" not in text, "reasons are not in plain sight"
    sealed = re.search(r'id="lesson-answers">([^<]+)<', text)
    assert sealed is not None
    data = json.loads(b64decode(sealed[1]))
    assert (data["questions"][0]["right"], data["questions"][0]["reasons"][1]) == (1, "Its gradient is there.")
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text.partition("</head>")[2]), "it loads nothing"
    assert 'src="data:image/png;base64,' in text
    chinese = tmp_path / "zh.html"
    assert run("export", "bubble", "--lang", "zh", "-o", str(chinese)).exit_code == 0
    assert "提交" in chinese.read_text()


def test_export_refuses_what_there_is_not(run, monkeypatch, tmp_path: Path):
    assert run("export", "nothing").exit_code == 2
    monkeypatch.setattr(module, "BUILT", tmp_path / "none")
    missing = run("export", "order", "-o", str(tmp_path / "x.html"))
    assert (missing.exit_code, "make setup" in missing.output) == (2, True)


def test_a_view_that_the_component_cannot_make_is_a_picture():
    assert elements("?family=zb-auto&p=4&m=8") is None
    assert elements("?family=1f1b&vocabulary=parallel-1") is None
    assert elements("?family=gpipe&F=1,2,1,1") is None
    assert elements("?family=interleaved&p=4&m=8&v=3&comm=0.25&b.family=1f1b") == [
        {"family": "interleaved", "p": "4", "m": "8", "v": "3", "comm": "0.25"},
        {"family": "1f1b", "p": "4", "m": "8", "comm": "0.25"},
    ]
