"""The server's reading of a page's query: packed links, other schedules, costs from a model; the same as the page's."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from backend.address.link_state import plans_of
from backend.address.packed import unpack
from backend.errors import RequestError

PUBLISHED = json.loads((Path(__file__).parents[2] / "golden" / "packed.json").read_text())


@pytest.mark.parametrize(("text", "packed"), PUBLISHED)
def test_packed_links_are_read_as_they_were_published(text: str, packed: str):
    assert unpack(packed) == text


@pytest.mark.parametrize(
    "packed",
    [
        *("", "AA", "AAAA", "ü", "nvwxr8AA", "A" * 3000),
        *(".", "..", ".AA", ".AAA", ".AAAA", ".AAAA.", ".AA.AA", ".AAAAAA.!", "." + "A" * 3000, "." + "A" * 2000),
    ],
)
def test_text_that_is_not_a_packed_link_gives_none(packed: str):
    assert unpack(packed) is None


def test_a_packed_link_that_unpacks_to_more_than_any_query_is_refused():
    deflate = zlib.compressobj(wbits=-15)
    bomb = deflate.compress(b"a" * 1_000_000) + deflate.flush()
    assert unpack(".AA" + base64.urlsafe_b64encode(bomb).decode().rstrip("=")) is None


def test_a_partly_wrong_packed_link_is_refused():
    text, packed = next((text, packed) for text, packed in PUBLISHED if "F=" in text)
    changed = [packed[:k] + ("B" if packed[k] == "A" else "A") + packed[k + 1 :] for k in range(len(packed))]
    accepted = [other for other in changed if unpack(other) not in (None, text)]
    assert accepted == []


@pytest.mark.parametrize("packed", [packed for text, packed in PUBLISHED if text == "family=zb-h1&p=8&m=32"])
def test_keys_beside_a_packed_link_override_its_keys(packed: str):
    (spec,) = plans_of(f"z={packed}&m=16".encode())
    assert (spec.family, spec.p, spec.m) == ("zb-h1", 8, 16)
    with pytest.raises(RequestError, match="part of it is missing"):
        plans_of(f"z={packed[:-2]}".encode())


def test_other_schedules_are_relative_to_the_first_and_have_their_own_v():
    plans = plans_of(
        b"family=interleaved&v=4&group=8&b.group=none&c.family=1f1b&c.group=none"
        b"&d.family=dualpipev&d.group=none&d.m=16&t0=3&tab=run"
    )
    assert [(spec.family, spec.v, spec.group, spec.m) for spec in plans] == [
        ("interleaved", 4, 8, 8), ("interleaved", 4, None, 8), ("1f1b", 1, None, 8), ("dualpipev", 2, None, 16),
    ]  # fmt: skip


def test_a_link_and_a_comparison_take_every_name_of_a_family(reader: FlaskClient):
    first, second = plans_of(b"family=Interleaved+1F1B&b.family=ZB-V")
    assert (first.family, first.v, second.family, second.v) == ("interleaved", 2, "v-zb", 2)
    rows = reader.get("/api/compare?families=ZB-V,1F1B").json["rows"]
    assert [row["family"] for row in rows] == ["v-zb", "1f1b"]


def test_costs_follow_from_a_model_unless_the_link_has_its_own():
    (given,) = plans_of(b"p=8&F=3&m.model=llama3-70b")
    assert (given.costs.F, given.costs.I) == (3.0, 1.0)
    (derived,) = plans_of(b"p=8&m.model=llama3-70b&m.tp=8&m.kv=none")
    assert isinstance(derived.costs.F, tuple)
    assert min(derived.costs.F) > 10
    (by_hand,) = plans_of(b"p=8&F=3&m.model=llama3-70b&m.tp=8&m.kv=none&m.off=1")
    assert (by_hand.costs.F, by_hand.costs.I) == (3.0, derived.costs.I)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (b"p=0", "p"),
        (b"family=x", "family"),
        (b"b.family=x", "family"),
        (b"m.model=x", "model"),
        (b"F=a", "F"),
        (b"z=!", "z"),
    ],
)
def test_a_bad_value_is_named(query: bytes, field: str):
    with pytest.raises(RequestError) as caught:
        plans_of(query)
    assert caught.value.field == field
