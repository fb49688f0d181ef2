"""Imported orders: any order packs into a short text and unpacks to itself, hostile texts are refused, and the spec of
an imported order works like that of a family."""

from __future__ import annotations

import base64
import time
import zlib
from contextlib import suppress
from urllib.parse import urlencode

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from backend.address.link_state import plans_of
from backend.address.query import query_of, spec_of
from backend.cli.schedule import show
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES, family_of, order, read
from backend.schedule.interop import torch_csv
from backend.schedule.order import order_codec
from backend.schedule.order.order import Order
from backend.schedule.order.order_codec import pack, unpack
from backend.schedule.order.row_check import first_wrong
from backend.schedule.result import result
from backend.schedule.simulation.check import _check_rank, check
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import MOST_ORDER, Spec
from tests.support.strategies import equal_orders, optioned, orders_on_any_ranks


def packed_of(body: bytes, letter: str = "l") -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return letter + base64.urlsafe_b64encode(deflate.compress(body) + deflate.flush()).decode().rstrip("=")


@given(optioned())
def test_the_order_of_any_legal_spec_packs_and_unpacks_to_the_same_order(spec: Spec) -> None:
    built = order(spec)
    assert equal_orders(unpack(pack(built)), built)


@given(optioned())
def test_an_imported_spec_has_the_times_and_the_memory_of_the_order_it_was_made_of(spec: Spec) -> None:
    built = order(spec)
    plain = imported.spec_of(built)
    options = ("costs", "layers", "recompute", "w_share", "vocabulary", "offload", "shared_link")
    kept = {key: getattr(spec, key) for key in options}
    if built.copies is None:  # where no copy pays, an order that might offload has none
        kept |= {"offload": "none", "shared_link": False}
    made = read(plain.with_(**kept).to_json())
    assert (made.p, made.m, made.v) == (spec.p, spec.m, spec.v)
    found = order(made)
    ours, theirs = simulate(built, spec.timing, spec.v), simulate(found, made.timing, made.v)
    assert np.array_equal(ours.start, theirs.start)
    assert np.array_equal(ours.end, theirs.end)
    keys = ("makespan", "bubble", "peak_in_flight", "order")
    left, right = result(spec), result(made)
    assert [left[key] for key in keys] == [right[key] for key in keys]
    assert right["law"] is None


@given(orders_on_any_ranks())
def test_an_order_with_stages_on_any_ranks_is_packed_checked_and_written_as_it_is(built: Order) -> None:
    check(built)
    made = read(imported.spec_of(built).to_json())
    assert (made.stages, spec_of(query_of(made).encode())) == (built.placement.stages, made)
    assert equal_orders(order(made), built)
    assert equal_orders(torch_csv.read(torch_csv.dump(built)), built)
    assert result(made)["makespan"] == figures(simulate(built, made.timing, built.chunks)).makespan


def test_a_text_whose_ranks_are_no_custom_placement_is_refused() -> None:
    text = pack(torch_csv.read("1F0,1B0\n0F0,0B0\n"))
    assert text.startswith("c2-")
    with pytest.raises(OrderError):
        unpack(text.replace("c2-", "c1-"))
    body = bytes([2, 1, 1, 32, 2])
    for ranks in (b"\0\1", b"\0\0", b"\2\0", b"\1"):  # looped; rank 1 has none; there is no rank 2; a rank is missing
        with pytest.raises(OrderError):
            unpack(packed_of(body + ranks + b"\0\3\0\3", "c2-"))
    assert equal_orders(unpack(packed_of(body + b"\1\0" + b"\0\3\0\3", "c2-")), unpack(text))


def test_options_of_chunks_do_not_go_with_a_custom_placement() -> None:
    spec = imported.spec_of(torch_csv.read("0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n"))
    assert result(spec)["makespan"] == 6.0
    assert result(spec.with_(recompute="full"))["makespan"] == 8.0
    with pytest.raises(SpecError) as caught:
        read(spec.with_(recompute=("full", "none")).to_json())
    assert (caught.value.field, caught.value.nearest) == ("recompute", "full")


@given(optioned())
def test_a_link_holds_an_imported_spec_on_the_routes_and_on_the_page(spec: Spec) -> None:
    made = read(imported.spec_of(order(spec)).to_json())
    query = query_of(made)
    assert spec_of(query.encode()) == made
    assert plans_of(query.encode()) == [made]
    whole = {"family": made.family, "p": made.p, "m": made.m, "v": made.v, "order": made.order}
    offload = made.offload if isinstance(made.offload, str) else ",".join(made.offload)
    whole |= {"vocabulary": made.vocabulary, "offload": offload}
    beside = urlencode({f"b.{key}": value for key, value in whole.items()})
    assert plans_of(f"family=gpipe&p=3&{beside}".encode())[1] == made
    first = urlencode(whole)
    assert plans_of(f"{first}&b.family=gpipe&b.vocabulary=plain&b.offload=none".encode())[1].order is None


@given(st.text(st.sampled_from("lvbABCabc019-_"), min_size=1, max_size=60) | st.text(max_size=40))
def test_texts_that_are_not_an_order_are_refused_without_a_crash(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        read({"family": "imported", "order": text})
    assert refused.value.field == "order"


@given(st.binary(max_size=80), st.sampled_from("lvb"))
@example(bytes([1, 1, 1, 32, 2, 0, 3]), "l")  # which is a legal one: p 1, m 1, F and B
def test_bytes_that_are_not_an_order_are_refused_without_a_crash(body: bytes, letter: str) -> None:
    found = None
    with suppress(SpecError):
        found = order(read({"family": "imported", "p": 1, "m": 1, "order": packed_of(body, letter)}))
    assert found is None or first_wrong(found) is None


@given(optioned(max_p=4, max_m=6), st.data())
def test_a_damaged_order_is_refused_with_a_reason_or_still_legal(spec: Spec, data: st.DataObject) -> None:
    packed = pack(order(spec))
    body = bytearray(zlib.decompress(base64.urlsafe_b64decode(packed[1:] + "=" * (-len(packed[1:]) % 4)), -15))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 12))
    text = packed_of(bytes(body), packed[0])
    with suppress(OrderError):
        found = unpack(text)
        check(found)
        assert equal_orders(unpack(pack(found)), found)


@given(optioned(max_p=4, max_m=6), st.data())
def test_the_quick_check_of_a_rank_and_the_one_with_messages_agree(spec: Spec, data: st.DataObject) -> None:
    built = order(spec)
    codes = built.codes.copy()
    for _ in range(data.draw(st.integers(0, 2))):
        one, other = (data.draw(st.integers(0, len(codes) - 1)) for _ in range(2))
        codes[one] = data.draw(st.sampled_from([codes[one], codes[other]]))
        codes[[one, other]] = codes[[other, one]]
    damaged = Order(built.placement, built.m, codes, built.offsets, built.micro, built.barriers)
    spoken = None
    for rank in range(damaged.p):
        try:
            _check_rank(damaged, rank)
        except OrderError:
            spoken = rank
            break
    assert first_wrong(damaged) == spoken


def test_a_small_text_that_unpacks_to_much_is_refused_at_once() -> None:
    bomb = packed_of(bytes(order_codec.MOST_BYTES + 1))
    assert len(bomb) < 6000
    for text in (bomb, packed_of(bytes([200, 1, 255, 255, 3, 64, 32, 255, 255, 127]) + bytes(1000))):
        began = time.process_time()
        with pytest.raises(SpecError, match="cannot run"):
            read({"family": "imported", "order": text})
        assert time.process_time() - began < 2.0


def test_an_order_too_long_for_a_link_is_refused_with_advice() -> None:
    rng = np.random.default_rng(5)
    built = order(read({"family": "gpipe", "p": 2, "m": 4000}))
    micro = np.concatenate([rng.permutation(4000) for _ in range(4)])
    columns = np.stack((micro, np.full(len(micro), -1)), 1).astype(np.int32)
    shuffled = Order(built.placement, built.m, built.codes, built.offsets, columns)
    with pytest.raises(SpecError, match=r"run --csv") as refused:
        imported.spec_of(shuffled)
    assert refused.value.limit == MOST_ORDER
    with pytest.raises(SpecError, match=r"6,000 is the most"):
        read({"family": "imported", "order": "l" + "A" * 6000})


def test_an_order_of_too_many_ops_is_refused_with_advice() -> None:
    built = order(read({"family": "gpipe", "p": 64, "m": 4096}))
    with pytest.raises(SpecError, match=r"run --csv"):
        imported.spec_of(built)


@pytest.mark.parametrize(
    ("change", "field", "nearest"),
    [
        ({"p": 8}, "p", 4),
        ({"m": 7}, "m", 8),
        ({"v": 2}, "v", 1),
        ({"group": 2}, "group", None),
        ({"lifo": True}, "lifo", False),
        ({"effort": 10}, "effort", None),
        ({"offload": "full"}, "offload", "none"),
        ({"vocabulary": "parallel-1"}, "vocabulary", "plain"),
        ({"weights": 1.0}, "weights", None),
        ({"order": None}, "order", None),
        ({"costs": {"FB": 2.0}}, "FB", None),
    ],
)
def test_options_that_an_imported_order_cannot_have_are_refused_with_the_nearest_legal_value(
    change: dict[str, object], field: str, nearest: object
) -> None:
    legal = imported.spec_of(order(read({"family": "1f1b", "p": 4, "m": 8}))).to_json()
    read(legal)
    with pytest.raises(SpecError) as refused:
        read(legal | change)
    assert (refused.value.field, refused.value.nearest) == (field, nearest)


SHARDED = {"family": "1f1b", "vocabulary": "parallel-1"}
COPYING = {"family": "gis", "m": 16, "v": 4, "offload": "full"}


@pytest.mark.parametrize("spec", [SHARDED, COPYING])
def test_barriers_and_copies_of_an_order_belong_to_its_spec(spec: dict[str, object]) -> None:
    made = imported.spec_of(order(read(spec))).to_json()
    read(made)
    for key, value in (("vocabulary", "parallel-2"), ("vocabulary", "plain"), ("offload", "none")):
        if made[key] not in (value, "plain" if key == "vocabulary" else "none"):
            with pytest.raises(SpecError) as refused:
                read(made | {key: value, "shared_link": False})
            assert refused.value.field == key
            read(made | {key: refused.value.nearest})


def test_an_order_that_cannot_run_is_refused_with_the_first_violation() -> None:
    text = "0F0,0F1,0B0,0B1\n1F0,1B1,1F1,1B0\n"
    with pytest.raises(SpecError, match="1B1 before 1F1"):
        read({"family": "imported", "p": 2, "m": 2, "order": pack(torch_csv.load(text))})


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.placement != "bidirectional"])
def test_a_familys_csv_is_imported_as_the_same_order(name: str) -> None:
    built = order(read({"family": name, "p": 4, "m": 8}))
    back = torch_csv.load(torch_csv.dump(built))
    made = read(imported.spec_of(back).to_json())
    assert order(made).text() == built.text()
    assert family_of(made).placement == built.placement.kind


def test_imported_is_not_among_the_compared_or_swept_families() -> None:
    assert imported.NAME not in FAMILIES
    with pytest.raises(SpecError, match="1F1B has no order"):
        read({"family": "1f1b", "order": "lAAAA"})


def test_the_command_line_takes_the_order_of_a_link() -> None:
    built = order(read({"family": "1f1b", "p": 2, "m": 3}))
    shown = CliRunner().invoke(show, ["imported", "-p", "2", "-m", "3", "--order", pack(built)])
    assert shown.exit_code == 0, shown.output
    assert "law: none; the order is imported" in shown.output
    plain = CliRunner().invoke(show, ["1f1b", "-p", "2", "-m", "3"])
    assert shown.output.splitlines()[1:5] == plain.output.splitlines()[1:5]
