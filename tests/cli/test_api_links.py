"""Links of the Python API: the page's own links of the same schedules."""

from __future__ import annotations

import random

import bubbleline as bl
from backend.address.link_state import plans_of
from backend.schedule.families.registry import FAMILIES, read
from tests.schedule.simulation.test_js_parity import random_spec
from tests.support.node import answers, needs_node

NATURAL = {family.name: family.v[1] for family in FAMILIES.values()}
LONGEST = 300  # characters of a query that the page leaves as it is


@needs_node
def test_a_link_is_the_one_that_the_page_writes() -> None:
    made = [bl.Schedule(read({"family": name})) for name in FAMILIES]
    for name in FAMILIES:
        rng = random.Random(f"link {name}")
        made += [bl.Schedule(random_spec(rng, name)) for _ in range(3)]
    made.append(bl.from_csv(bl.schedule("zb-h1", p=3, m=5).to_torch_csv(), costs={"f": 1e-6, "i": 1.5e-7, "w": 1e9}))
    links = [each.link().removeprefix("http://127.0.0.1:5000/") for each in made]
    for each, link, read_back in zip(
        made, links, answers("link_written", [{"query": link, "natural": NATURAL} for link in links]), strict=True
    ):
        assert read_back["problems"] == []
        assert read_back["spec"] == each._whole_spec.to_json()
        if len(link) < LONGEST and link != "?family=1f1b":  # which the page leaves out; a bare address is its story
            assert read_back["written"] == link


def test_a_link_with_a_model_is_read_back_with_its_costs_and_model() -> None:
    llama = bl.model("deepseek-v3", "h200", tp=2, heads=False, sequence=8192, expert=2, per_node=4)
    made = bl.schedule("v-half", p=4, m=16, model=llama)
    query = made.link("https://example.org/").removeprefix("https://example.org/?")
    assert plans_of(query.encode()) == [made.spec]
    without = "&".join(
        part for part in query.split("&") if not part.startswith(("F=", "I=", "W=", "comm=", "w_share="))
    )
    assert plans_of(without.encode()) == [made.spec]
