"""The server for assistants, asked through the protocol's own client; and the skill, whose answers are computed."""

from __future__ import annotations

import asyncio
import doctest
import json
from typing import Any

import pytest

import bubbleline as bl
from backend.config import PROJECT

PAGE = "http://bubbles"


def ask(tool: str, **given: Any) -> tuple[bool, str]:
    """Whether it is an error, and the answer."""
    from mcp import Client  # a second, and no other process that collects the tests needs it

    from bubbleline.assistants import server

    async def asked() -> Any:
        async with Client(server(PAGE)) as client:
            return await client.call_tool(tool, given)

    answer = asyncio.run(asked())
    return answer.is_error, answer.content[0].text


@pytest.mark.parametrize(
    ("tool", "given", "part"),
    [
        ("families", {}, {"families": bl.families()}),
        ("schedule", {"family": "zb-h1", "p": 8, "m": 32}, {"step_time": 103.0,
         "link": f"{PAGE}/?family=zb-h1&p=8&m=32", "law": "bubble = (p - 1)*max(f, i, f + i - w) = 7"}),
        ("why_idle", {"family": "1f1b", "rank": 0, "t": 6}, {"link": f"{PAGE}/?family=1f1b&at=6"}),
        ("why_idle", {"family": "1f1b", "rank": 0, "t": 1}, {"why": "The rank is busy then."}),
        ("search", {"family": "zb-auto", "p": 2, "m": 3, "seconds": 0.1}, {"above_lower_bound": 0.0}),
        ("check_order", {"csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1", "max_bubble": "20%"}, {"step_time": 9.0,
         "findings": ["the bubble is 33.33% of the step, over the limit of 20%"]}),
        ("torch_csv", {"family": "gpipe", "p": 2, "m": 2}, {"csv": "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n"}),
    ],
)  # fmt: skip
def test_a_tool_answers_with_the_figures_of_the_api(tool: str, given: dict[str, Any], part: dict[str, Any]) -> None:
    wrong, text = ask(tool, **given)
    assert not wrong, text
    answer = json.loads(text)
    assert {key: answer[key] for key in part} == part


def test_comparisons_and_plans_have_a_link_for_each_row() -> None:
    rows = json.loads(ask("compare", families=["1f1b", "zb-h1"], p=4, m=8)[1])["rows"]
    assert [(row["family"], row["link"]) for row in rows] == [
        (name, f"{PAGE}/?family={name}") for name in ("zb-h1", "1f1b")
    ]
    (plan,) = json.loads(ask("plan", model="llama3-8b", tp=2, p=2, m=4, rows=1)[1])["plans"]
    assert plan["fits"]
    assert "m.model=llama3-8b" in plan["link"]


def test_a_wrong_value_is_answered_with_its_field_and_the_nearest_legal_one() -> None:
    wrong, text = ask("schedule", family="dualpipe", p=3)
    assert wrong
    assert "p: DualPipe needs an even number of devices" in text
    assert "nearest legal value: 4" in text
    assert "no_such" in ask("schedule", family="1f1b", options={"no_such": 1})[1]


def test_every_answer_in_the_skill_is_what_the_engine_computes() -> None:
    done = doctest.testfile(str(PROJECT / "docs" / "examples" / "SKILL.md"), module_relative=False)
    assert (done.failed, done.attempted) == (0, 18)
