"""The lessons that there are: bubbleline's own, each without a mistake, and those of a lecturer's folder on top."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backend.errors import RequestError
from backend.lessons.lesson import Broken, Lesson
from backend.lessons.page import picture
from backend.lessons.page_sources import papers
from backend.lessons.shelf import OWN, Shelf
from tests.lessons.support import HEAD, SAMPLES

SCENE = ":::{scene} ?family=gpipe&p=2&m=2\nA caption.\n:::\n"


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_lecturers_lesson_replaces_or_adds_and_a_missing_language_is_the_other(tmp_path: Path):
    write(tmp_path, "en/07-bubble.md", HEAD.replace("T", "Mine") + SCENE)
    write(tmp_path, "20-any.md", HEAD.replace("T", "Beside") + SCENE)
    write(tmp_path, "en/README.txt", "no lesson")
    shelf = Shelf((SAMPLES, tmp_path))
    english, chinese = shelf.entries("en"), shelf.entries("zh")
    assert [(each.number, each.slug) for each in english] == [(2, "order"), (7, "bubble"), (20, "any")]
    assert shelf.lesson("bubble", "en").title == "Mine"
    assert [each.language for each in chinese if isinstance(each, Lesson)] == ["zh", "en", "en"]
    assert shelf.lesson("bubble", "zh").title == "GPipe 与气泡"


def test_a_file_is_read_again_when_it_changes(tmp_path: Path):
    shelf = Shelf((tmp_path,))
    write(tmp_path, "en/01-x.md", HEAD + SCENE)
    before = shelf.stamp()
    first = shelf.lesson("x", "en")
    assert shelf.lesson("x", "en") is first, "what has not changed is not read again"
    write(tmp_path, "en/01-x.md", HEAD.replace("T", "U") + SCENE)
    os.utime(tmp_path / "en" / "01-x.md", (1, 1))
    assert shelf.lesson("x", "en").title == "U"
    assert shelf.stamp() != before


def test_a_broken_file_is_listed_and_breaks_no_other(tmp_path: Path):
    write(tmp_path, "en/01-good.md", HEAD + SCENE)
    write(tmp_path, "en/02-bad.md", HEAD + ":::{scen}\n:::\n")
    (tmp_path / "en" / "03-folder.md").mkdir()
    entries = Shelf((tmp_path, tmp_path / "absent")).entries("en")
    assert [type(each) for each in entries] == [Lesson, Broken, Broken]
    with pytest.raises(RequestError, match=r"en/02-bad\.md, line 6"):
        Shelf((tmp_path,)).lesson("bad", "en")
    with pytest.raises(RequestError, match="no lesson of this name"):
        Shelf((tmp_path,)).lesson("../../etc/passwd", "en")


def test_there_is_one_list_of_papers_for_lessons_and_help():
    assert {"gpipe", "pipedream", "zero", "offload"} <= papers().keys()
    assert papers()["gpipe"].href == "https://doi.org/10.48550/arXiv.1811.06965"
    assert papers()["pipedream"].doi == "10.1145/3341301.3359646"
    text = (OWN.parents[1] / "static/js/core/explain/papers.ts").read_text()
    assert len(papers()) == text.count('title: "') == text.count("year: 20")


def test_a_picture_has_every_op_and_stays_small_for_many():
    small = picture("?family=1f1b&p=2&m=3", 'a "caption" <b>')
    assert small.count('class="pic-f') == 6
    assert small.count('class="pic-b') == 6
    assert 'aria-label="a &quot;caption&quot; &lt;b&gt;"' in small
    assert picture("?family=gpipe&p=4&m=4&b.family=1f1b", "x").count("pic-title") == 2
    assert len(picture("?family=1f1b&p=64&m=512", "x")) < 900_000
