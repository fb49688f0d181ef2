"""Lessons' files: what they become, and that a hostile or wrong one is found with file, line and cause."""

from __future__ import annotations

import re
import time

import pytest

from backend.config import PROJECT
from backend.lessons.format.parse import MOST_BYTES, PAGE_IDS, lesson_of
from backend.lessons.lesson import Broken, Figure, Lesson, Link, Note, Prose, Question, Scene, Source
from backend.lessons.task_link import task_link
from backend.tasks.task import tasks
from tests.lessons.support import SAMPLES, broken, lesson, parsed

HEAD = "---\ntitle: T\nminutes: 3\nsummary: S\n---\n"
SCENE = ":::{scene} ?family=gpipe&p=4&m=8\nA caption.\n:::\n"
ASKED = ":::{predict}\n:answer: gpipe p=4 m=8 : bubble\nHow much?\n---\nThat much.\n:::\n"


def test_a_lesson_has_steps_with_blocks_in_their_order():
    read = parsed((SAMPLES / "en" / "01-bubble.md").read_bytes())
    assert isinstance(read, Lesson)
    assert [step.anchor for step in read.steps] == ["start", "fill", "more"]
    assert [type(block) for block in read.steps[2].blocks] == [Scene, Question, Question, Figure, Note, Source]
    assert [(each.number, each.kind) for each in read.questions] == [
        (1, "predict"), (2, "choose"), (3, "predict"), (4, "order"),
    ]  # fmt: skip
    assert read.steps[0].scenes[0].play
    assert read.questions[1].options[read.questions[1].right].html == "<code>1B0</code>"


@pytest.mark.parametrize("slug", list(tasks()))
def test_a_lesson_can_lead_to_every_task_and_says_its_goals(slug: str):
    link = task_link(slug)
    assert link.title == tasks()[slug].title
    assert all(link.goals.values())


def test_links_of_a_lesson_lead_to_the_workbench_and_to_a_run():
    read = parsed((SAMPLES / "en" / "02-order.md").read_bytes())
    assert isinstance(read, Lesson)
    links = [block for block in read.steps[1].blocks if isinstance(block, Link)]
    assert [link.href for link in links] == ["/build?task=finish-1f1b", "/?family=1f1b&p=2&m=4&tab=run"]
    task = links[0].task
    assert task is not None
    assert (task.number, task.title["zh"]) == (1, "完成这个 1F1B")
    assert task.goals == {"en": "it is 1F1B", "zh": "它就是 1F1B"}
    assert read.steps[0].scenes[0].kind == "compare"


def test_nothing_of_a_file_becomes_html_or_a_script():
    text = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](data:text/html,x) "
        "[c](//evil.example) [d](https://ok.example/?a=\"b) `</code><script>`\n\n"
        "<div onclick=x>\n\n[e]: javascript:alert(1)\n\n## </h2><script> {#x}\n"
    )  # fmt: skip
    read = lesson(text + ':::{scene} ?family=gpipe&p=4\n"><script>alert(1)</script>\n:::\n')
    prose = "".join(block.html for step in read.steps for block in step.blocks if isinstance(block, Prose | Scene))
    assert "<script" not in prose
    assert "<img" not in prose
    assert "<div" not in prose
    assert 'href="javascript' not in prose
    assert 'href="data' not in prose
    assert 'href="//' not in prose
    assert 'href="https://ok.example/?a=%22b' in prose


REACH = ":::{reach} ?family=gpipe&p=4&m=4\n:goal: bubble < 10 %\n:answer: m=28\nx\n---\ny\n:::\n"
FIND = ":::{find} ?family=1f1b&p=4&m=8\n:answer: why-idle rank=0 at=5\nx\n---\ny\n:::\n"
WRONG: list[tuple[str, int, str]] = [
    ("x\n", 1, "a lesson begins with ---"),
    ("---\ntitle: T\nminutes: 3\n---\n" + SCENE, 2, "the head needs summary"),
    ("---\ntitle: [T\nminutes: 3\n---\n" + SCENE, 3, "the head cannot be read"),
    ("---\ntitle: T\nminutes: 0\nsummary: S\n---\n" + SCENE, 2, "the head needs minutes"),
    ("---\ntitle: T\nminutes: 3\nsummary: S\nauthor: A\n---\n" + SCENE, 2, "the head has no author"),
    ("---\na: &a [x]\ntitle: *a\nminutes: 3\nsummary: S\n---\n" + SCENE, 3, "aliases are not allowed"),
    (HEAD + "text\n", 1, "at least one scene"),
    (HEAD + ":::{scen} ?x\ny\n:::\n", 6, "there is no directive scen"),
    (HEAD + ":::scene\ny\n:::\n", 6, "begins with a name in braces"),
    (HEAD + ":::{scene} ?family=gpipe\nnever closed\n", 6, "not closed"),
    (HEAD + ":::{scene} ?family=gpipe\n:::\n", 6, "needs a caption"),
    (HEAD + ":::{scene} ?family=gpipe\n:loop:\nx\n:::\n", 7, "scene has no option loop"),
    (HEAD + ":::{scene} family=gpipe\nx\n:::\n", 6, "a view is a query"),
    (HEAD + ":::{scene} ?family=gpipe&q=4\nx\n:::\n", 6, "q is no key"),
    (HEAD + ":::{scene} ?family=gpip\nx\n:::\n", 6, "no family of that name"),
    (HEAD + ":::{scene} ?family=dualpipe&p=3\nx\n:::\n", 6, "p"),
    (HEAD + ":::{scene} ?family=gpipe&p=1024&m=60000\nx\n:::\n", 6, "ops"),
    (HEAD + ":::{scene} ?family=gpipe&z=AAAA\nx\n:::\n", 6, "z is no key"),
    (HEAD + ":::{compare} ?family=gpipe\nx\n:::\n", 6, "compare takes two"),
    (HEAD + ":::{figure} pie ?family=gpipe\nx\n:::\n", 6, "there is no chart pie"),
    (HEAD + ":::{figure} bubble-m ?family=gpipe&mem=1\nx\n:::\n", 6, "unknown key"),
    (HEAD + ":::{run} family\nx\n:::\n", 6, "a view is a query"),
    (HEAD + ":::{build} Finish It\nx\n:::\n", 6, "build names a task"),
    (HEAD + ":::{build} finish-1f2b\nx\n:::\n", 6, "there is no task finish-1f2b, but finish-1f1b"),
    (HEAD + ":::{source}\nx\n:::\n", 6, "source names a paper"),
    (HEAD + SCENE + "# Title\n", 9, "the title is in the head"),
    (HEAD + SCENE + "## A {#a}\n\n## B {#a}\n", 11, "a names two steps"),
    (HEAD + SCENE + "## A {#plot}\n", 9, "plot cannot name a step"),
    (HEAD + SCENE + "## A {#A b}\n", 9, "cannot name a step"),
    (HEAD + SCENE + "a\nb {{ gpipe p=4 : bubbel }}\n", 10, "bubbel is no value"),
    (HEAD + SCENE + "{{ gpipe p=4 }}\n", 9, "a value is written"),
    (HEAD + SCENE + "{{ gpipe p=x : bubble }}\n", 9, "plain number"),
    (HEAD + SCENE + "{{ gpipe p=1024 m=65536 : ops }}\n", 9, "over the limit"),
    (HEAD + SCENE + "{{ v-min p=64 m=600 : ops }}\n", 9, "in a lesson V-Min may have"),
    (HEAD + SCENE + "{{ zb-auto effort=100000 : bubble }}\n", 9, "does not search"),
    (HEAD + SCENE + "{{ gpipe : bubble | per cent }}\n", 9, "per cent is no format"),
    (HEAD + SCENE + "{{ model llama9 : hidden }}\n", 9, "no model of that name"),
    (HEAD + SCENE + "{{ model llama3-70b : title }}\n", 9, "title is no number"),
    (HEAD + SCENE + "{{ ratio: gpipe : bubble }}\n", 9, "takes two values"),
    (HEAD + SCENE + "$\\nosuch{$\n", 9, "the formula"),
    (HEAD + SCENE + "$\\text{<script>alert(1)</script>}$\n", 9, "the formula"),
    (HEAD + SCENE + "$\\text{<mi onclick=\"x\">a</mi>}$\n", 9, "the formula \\text{<mi onclick"),
    (HEAD + SCENE + "$\\href{javascript:alert(1)}{x}$\n", 9, "no \\href"),
    (HEAD + SCENE + "![x](https://example.org/x.png)\n", 9, "is no picture here"),
    (HEAD + SCENE + "a\n![x](x.png)\n", 10, "x.png is no picture here"),
    (HEAD + SCENE + "![](../pictures/box.png)\n", 9, "needs a text in its brackets"),
    (HEAD + SCENE + "![x](pictures/none.png)\n", 9, "there is no picture none.png"),
    (HEAD + SCENE + "[x](pictures/box.png)\n", 9, "pictures/box.png is no link"),
    (HEAD + ":::{scene} ?family=gpipe\nx\n\n## A\n\n" + ASKED, 6, "not closed by a line with ::: before the next"),
    (HEAD + REACH.replace("m=28", "m=20"), 6, "does not reach the goal: bubble 13.0"),
    (HEAD + REACH.replace("m=28", "m=280"), 6, "the sliders of a lesson end at p=32, m=128, v=8"),
    (HEAD + REACH.replace("m=28", "28"), 6, "answer has the sizes"),
    (HEAD + REACH.replace("&m=4", "&m=40"), 6, "reaches the goal already"),
    (HEAD + REACH.replace("bubble <", "idle <"), 6, "the quantity is one of bubble"),
    (HEAD + REACH.replace("10 %", "much"), 6, "a value is written"),
    (HEAD + REACH.replace("&m=4", "&m=4&b.m=8"), 6, "reach shows one schedule"),
    (HEAD + FIND.replace("why-idle rank=0 at=5", "idle rank=0 at=1"), 6, "rank 0 does not wait"),
    (HEAD + FIND.replace("why-idle rank=0 at=5", "idle rank=9 at=1"), 6, "rank 9 does not wait"),
    (HEAD + FIND.replace("why-idle rank=0 at=5", "op 0F9"), 6, "no op 0F9"),
    (HEAD + FIND.replace("why-idle rank=0 at=5", "the wait"), 6, "answer begins with one of"),
    (HEAD + FIND.replace("p=4", "p=1").replace("why-idle rank=0 at=5", "longest-idle"), 6, "no rank waits"),
    ("---\ntitle: T\nsummary: S\npicture: gpipe\n---\n" + SCENE, 2, "a view is a query"),
    (HEAD + SCENE + ASKED.replace("---\nThat much.\n", ""), 9, "needs an explanation"),
    (HEAD + SCENE + ASKED.replace(":answer: gpipe p=4 m=8 : bubble\n", ""), 9, "needs :answer:"),
    (HEAD + SCENE + ASKED.replace("How much?\n", ""), 9, "the question itself is missing"),
    (HEAD + SCENE + ASKED.replace("How much?", ":tolerance: x\nHow much?"), 9, "tolerance"),
    (HEAD + SCENE + ASKED.replace("That much.", "{{ nothing }}"), 13, "a value is written"),
    (HEAD + SCENE + "::::{predict}\n:answer: gpipe : bubble\nx\n---\n:::{note}\ny\n:::\n::::\n", 13, "inside another"),
    (HEAD + SCENE + ":::{choose}\n:answer: 3\nx\n- [ ] a\n- [ ] b\n---\ny\n:::\n", 9, "from 1 to 2"),
    (HEAD + SCENE + ":::{choose}\n:answer: 1\nx\n- [ ] a\n---\ny\n:::\n", 9, "2 to 8 options"),
    (
        HEAD + SCENE + ":::{choose}\n:answer: next 1f1b p=4 m=8 rank=0 after=4\nx\n- [ ] `0F4`\n- [ ] b\n---\ny\n:::\n",
        9, "the answer is 0B0, which 0 of the options name",
    ),
    (
        HEAD + SCENE + ":::{choose}\n:answer: why-idle 1f1b p=4 m=8 rank=0 at=0\nx\n- [ ] a\n- [ ] b\n---\ny\n:::\n",
        9, "does not wait",
    ),
    (HEAD + SCENE + ":::{order}\n:answer: 1f1b p=2 m=3 rank=0 from=0 to=99\nx\n---\ny\n:::\n", 9, "to=99"),
    (HEAD + SCENE + ":::{order}\n:answer: 1f1b p=2 m=3 from=0 to=4\nx\n---\ny\n:::\n", 9, "rank= is missing"),
]  # fmt: skip
"""Files, the line of the mistake, and a part of its cause."""


@pytest.mark.parametrize(("text", "line", "cause"), WRONG, ids=[cause for _, _, cause in WRONG])
def test_a_mistake_is_named_with_file_line_and_cause(text: str, line: int, cause: str):
    problems = broken(text)
    assert any(each.line == line and cause in each.cause for each in problems), problems
    assert all(each.text().startswith("en/01-x.md:") for each in problems)


def test_all_mistakes_of_a_file_are_found_at_once():
    problems = broken(HEAD + ":::{scen} ?x\ny\n:::\n\n{{ gpipe : x }}\n\n" + ASKED.replace("How much?\n", ""))
    assert [each.line for each in problems] == [6, 10, 12]


HOSTILE = {
    "nested fences": HEAD + "\n".join(":" * (3 + n % 9) + "{note}" for n in range(10_000)),
    "nested lists": HEAD + "\n".join("  " * n + "- a" for n in range(300)),
    "nested quotes": HEAD + ">" * 5000,
    "brackets": HEAD + "\n\n".join("[" * 5000 for _ in range(4)),
    "pictures": HEAD + "\n\n".join("![](" * 1200 for _ in range(4)),
    "stars": HEAD + "\n\n".join("*a **b " * 700 for _ in range(20)),
    "backticks": HEAD + "\n\n".join(" ".join("`" * n for n in range(1, 100)) for _ in range(20)),
    "a huge table": HEAD + "|" + "a|" * 2000 + "\n|" + "-|" * 2000 + "\n" + ("|" + "a|" * 1000 + "\n\n") * 40,
    "many rows": HEAD + "|a|b|\n|-|-|\n" + "|a|b|\n" * 15_000,
    "braces": HEAD + "\n\n".join("{{" * 2500 for _ in range(4)),
    "formulas": HEAD + "\n\n".join("$" + "{" * 390 + "$" for _ in range(100)),
    "deep yaml": "---\ntitle: " + "[" * 1900 + "\n---\n",
    "a yaml bomb": "---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b]\n---\n",
    "a python tag": "---\ntitle: !!python/object/apply:os.system [echo]\nminutes: 3\nsummary: S\n---\n",
    "many values": HEAD + "{{ gpipe p=4 m=8 : x }}\n\n" * 3000,
    "many schedules": HEAD + "".join(f"{{{{ gpipe p=64 m={m} : bubble }}}}\n\n" for m in range(1000, 1500)),
    "many directives": HEAD + ":::{note}\nx\n:::\n\n" * 5000,
    "a long line": HEAD + "x" * 100_000,
    "control characters": HEAD + "".join(map(chr, range(32))) * 100,
    "not text": "\x80",
    "too large": "x" * (MOST_BYTES + 1),
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_quickly_with_its_line(name: str):
    source = HOSTILE[name].encode("latin-1" if name == "not text" else "utf-8")
    begin = time.process_time()
    read = parsed(source)
    assert time.process_time() - begin < 10  # a few tenths of a second; far from what a bomb would take
    assert isinstance(read, Broken)
    assert all(each.line >= 1 and each.cause for each in read.problems)
    assert len(read.problems) <= 50


def test_a_file_with_a_wrong_name_is_a_mistake():
    read = lesson_of((HEAD + SCENE).encode(), "en/GPipe.md", "en")
    assert isinstance(read, Broken)
    assert "named like 02-gpipe.md" in read.problems[0].cause


def test_no_step_can_take_an_id_of_its_page():
    html = "".join((PROJECT / "templates" / "learn" / f"{name}.html").read_text() for name in ("lesson", "list"))
    ids = {each for each in re.findall(r'\bid="([^"{]+)"', html) if not each.endswith("-0")}
    assert ids <= PAGE_IDS | {"plotly.js-style-global"}, "add it to PAGE_IDS"
