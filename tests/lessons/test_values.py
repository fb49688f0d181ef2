"""Value expressions and computed answers are the engine's own figures."""

from __future__ import annotations

import pytest

from backend.lessons.questions.answers import awaited_op, next_op, row_part, shuffled
from backend.lessons.values import Budget, LessonError, compute
from backend.schedule.families.registry import order, read
from backend.schedule.hardware.models import MODELS
from backend.schedule.result import result

BUDGET = Budget()


def number(text: str) -> float:
    return compute(text, BUDGET).number


@pytest.mark.parametrize("spec", ["gpipe p=4 m=16", "interleaved p=4 m=8 v=2 comm=0.25", "zb-h1 p=6 m=12 W=0.5"])
def test_values_are_those_of_the_result(spec: str):
    family, *words = spec.split()
    pairs = dict(word.split("=") for word in words)
    costs = {key: float(pairs.pop(key)) for key in ("comm", "W") if key in pairs}
    made = result(read({"family": family, "costs": costs} | {key: int(text) for key, text in pairs.items()}))
    bubble = made["bubble"]
    assert number(f"{spec} : bubble") == number(f"{spec} : bubble.of_total") == bubble["global"]["of_total"]
    assert number(f"{spec} : bubble.ideal") == bubble["global"]["of_ideal"]
    assert number(f"{spec} : bubble.span") == bubble["span"]["of_total"]
    assert number(f"{spec} : bubble.span.ideal") == bubble["span"]["of_ideal"]
    assert number(f"{spec} : makespan") == made["makespan"]
    assert number(f"{spec} : idle") == pytest.approx(made["makespan"] * bubble["global"]["of_total"])
    assert number(f"{spec} : peak") == max(made["peak_memory"])
    assert number(f"{spec} : in_flight") == max(made["peak_in_flight"])
    assert number(f"{spec} : ops") == sum(len(row.split()) for row in made["order"])
    laws = [law for law in made["laws"] if law["quantity"] == "bubble"]
    assert number(f"{spec} : law.bubble") == next((law for law in laws if law["exact"]), laws[0])["value"]


def test_messages_cross_every_boundary_once_each_way():
    assert number("gpipe p=4 m=8 : messages") == 2 * 3 * 8
    assert number("gpipe p=4 m=8 : hops") == 3
    assert number("interleaved p=4 m=8 v=2 : hops") == 4 * 2 - 1  # p v - 1, with the wrap-around
    assert number("v-zb p=4 m=8 : hops") == 6  # the turn of the V stays on one device


def test_ratios_and_products_and_formats():
    assert compute("ratio: gpipe p=4 m=8 : peak ; 1f1b p=4 m=8 : peak | x", BUDGET).text == "2x"
    model = MODELS["llama3-70b"]
    assert number("model llama3-70b : vocabulary * hidden") == model.vocabulary * model.hidden
    assert number("model llama3-70b : 2 * sequence / 4") == model.sequence / 2
    assert (
        compute("model custom vocabulary=32000 hidden=4096 : vocabulary * hidden | millions", BUDGET).text
        == "131\u00a0M"
    )
    assert compute("gpipe p=4 m=8 : bubble", BUDGET).text == "27.3\u00a0%"
    assert compute("gpipe p=4 m=8 : bubble | number", BUDGET).text == "0.2727"
    assert compute("1f1b p=8 m=2048 : ops", BUDGET).text == "32,768"
    assert number("product: gpipe p=4 m=8 : bubble ; 512 ; 24") == pytest.approx(3 / 11 * 512 * 24)
    assert compute("product: gpipe p=4 m=8 : bubble ; 512 ; 48 | about", BUDGET).text == "6,700"


def test_the_next_op_and_the_one_that_is_awaited():
    rows = order(read({"family": "1f1b", "p": 4, "m": 8})).text()
    assert next_op("1f1b p=4 m=8 rank=0 after=4", BUDGET).op == rows[0].split()[4] == "0B0"
    found = awaited_op("1f1b p=4 m=8 rank=0 at=5", BUDGET)
    assert (found.op, found.query) == ("1B0", "?family=1f1b&p=4&m=8&sel=1B0&at=5")
    assert awaited_op("gpipe p=4 m=4 rank=2 at=0.5", BUDGET).op == "1F0"
    assert awaited_op("dualpipe p=4 m=8 comm=1 rank=1 at=0.5", BUDGET).op == "0F0"
    ops, query = row_part("1f1b p=4 m=8 rank=1 from=2 to=8", BUDGET)
    assert list(ops) == rows[1].split()[2:8]
    assert query.endswith(f"sel={ops[0]}")
    mixed = shuffled(ops)
    assert sorted(mixed) == sorted(ops)
    assert mixed == shuffled(ops) != ops


def test_the_schedules_of_a_lesson_are_bounded_together():
    budget = Budget(left=300)
    compute("gpipe p=4 m=8 : bubble", budget)
    compute("gpipe p=4 m=8 : peak", budget)  # the same schedule counts once
    compute("gpipe p=4 m=9 : bubble", budget)
    compute("gpipe p=4 m=10 : bubble", budget)
    with pytest.raises(LessonError, match="together"):
        compute("gpipe p=4 m=11 : bubble", budget)
