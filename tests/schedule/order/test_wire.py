"""An order is decoded from its bytes and its text unchanged, and other bytes are refused."""

from __future__ import annotations

import base64
import json
import struct
import tracemalloc
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.schedule.errors import OrderError
from backend.schedule.families.registry import order
from backend.schedule.order import wire
from backend.schedule.order.order import Order
from backend.schedule.order.row_check import first_wrong
from backend.schedule.simulation.check import check
from backend.schedule.spec import Spec
from tests.support.strategies import equal_orders, optioned, orders_on_any_ranks

HEADER = {"p": 1, "m": 1, "placement": "looped", "chunks": 1, "counts": 2, "stored": 0, "barriers": 0, "copies": 0}


def body_of(header: object, rest: bytes = b"\0\3") -> bytes:
    head = json.dumps(header).encode()
    return struct.pack("<I", len(head)) + head + rest


@given(optioned())
def test_the_order_of_any_legal_spec_is_decoded_to_the_same_order(spec: Spec) -> None:
    built = order(spec)
    assert equal_orders(wire.decode(wire.encode(built)), built)
    assert equal_orders(wire.decode(wire.encode(built, spec.to_json())), built)


@given(orders_on_any_ranks())
def test_an_order_with_stages_on_any_ranks_is_decoded_to_the_same_order(built: Order) -> None:
    assert equal_orders(wire.from_text(wire.to_text(built)), built)


LARGE = [
    Spec("1f1b", 4, 4200),
    Spec("gpipe", 8, 2100),
    Spec("gpipe", 8, 2100, lifo=True),
    Spec("interleaved-zb", 8, 400, 4),
    Spec("dualpipe", 8, 4200),
    Spec("gis", 8, 400, 4, offload="full"),
    Spec("zb-h1", 4, 2100, vocabulary="parallel-1"),
]


@pytest.mark.parametrize("spec", LARGE, ids=lambda spec: f"{spec.family} {spec.offload} {spec.vocabulary} {spec.lifo}")
def test_blocks_that_a_large_order_repeats_are_sent_once(spec: Spec) -> None:
    built = order(spec)
    body = wire.encode(built)
    assert (len(body) < len(built) // 3) == (built.micro is None and built.copies is None)
    assert equal_orders(wire.decode(body), built)
    assert equal_orders(wire.from_text(wire.to_text(built)), built)


PHASED = HEADER | {"p": 2, "m": 9, "counts": [18, 18]}
PHASE = {"period": 2, "more": 5, "begin": [1, 0], "end": [17, 18]}
SENT = bytes([*(0, *[0, 3] * 3, 3), *[0, 3] * 4])


def test_a_phase_is_decoded_to_all_its_blocks() -> None:
    read = wire.decode(body_of(PHASED | {"phases": [PHASE]}, SENT))
    assert read.codes.tolist() == [*(0, *[0, 3] * 8, 3), *[0, 3] * 9]
    check(read)


@pytest.mark.parametrize(
    "phases",
    [
        *(
            [PHASE | {key: value}]
            for key in PHASE
            for value in (None, -1, 1.0, True, 10**30, [], [1], [1, -1], [1, 2.0])
        ),
        *({}, 1, "x", [1], [[]], [PHASE] * 9, [PHASE, PHASE]),
        [PHASE | {"more": 8}],
        [PHASE | {"end": [17, 19]}],
        [PHASE | {"end": [17, 11]}],
        [PHASE | {"begin": [17, 0]}],
        [PHASE | {"period": 2**20}],
    ],
    ids=str,
)
def test_a_phase_that_is_not_within_its_rows_is_refused(phases: object) -> None:
    with pytest.raises(OrderError):
        wire.decode(body_of(PHASED | {"phases": phases}, SENT))


@given(optioned())
def test_the_text_of_an_order_is_ascii_and_read_back_as_the_same_order(spec: Spec) -> None:
    built = order(spec)
    text = wire.to_text(built)
    assert text.isascii()
    read = wire.from_text(text)
    check(read)
    assert equal_orders(read, built)


@given(optioned(max_p=4, max_m=6), st.data())
def test_a_damaged_body_is_refused_or_is_an_order_that_can_be_checked(spec: Spec, data: st.DataObject) -> None:
    body = bytearray(wire.encode(order(spec)))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with suppress(OrderError):
        read = wire.decode(bytes(body))
        check(read)
        assert first_wrong(read) is None
        assert equal_orders(wire.decode(wire.encode(read)), read)


@given(st.binary(max_size=80))
@example(b"")
@example(struct.pack("<I", 2**32 - 1))
def test_bytes_that_are_not_an_order_are_refused(body: bytes) -> None:
    with pytest.raises(OrderError):
        wire.decode(body)


@given(st.text(max_size=40))
@example("AAAA")
def test_texts_that_are_not_an_order_are_refused(text: str) -> None:
    with pytest.raises(OrderError):
        wire.from_text(text)


def test_the_header_that_the_refused_ones_are_made_from_is_legal() -> None:
    check(wire.decode(body_of(HEADER)))


@pytest.mark.parametrize(
    "change",
    [
        *({key: None} for key in HEADER),
        *({key: True} for key in HEADER),
        *({key: 1.0} for key in HEADER),
        *({key: -1} for key in HEADER),
        *({key: 10**30} for key in HEADER),
        {"placement": "w"},
        {"placement": "bidirectional"},
        {"chunks": 65},
        {"stored": 3},
        {"barriers": 3},
        {"counts": [1, 1]},
        {"counts": []},
        {"counts": [2.0]},
        {"copies": 1},
    ],
    ids=str,
)
def test_a_header_with_one_wrong_field_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(OrderError):
        wire.decode(body_of(HEADER | change))


@pytest.mark.parametrize("header", [[], 1, "x", None, {}])
def test_a_header_that_is_not_an_object_of_an_order_is_refused(header: object) -> None:
    with pytest.raises(OrderError):
        wire.decode(body_of(header))


def test_a_deeply_nested_header_is_refused() -> None:
    head = b"[" * 1_000_000
    with pytest.raises(OrderError):
        wire.decode(struct.pack("<I", len(head)) + head)


def test_a_code_beyond_the_codes_of_its_chunks_is_refused() -> None:
    with pytest.raises(OrderError):
        wire.decode(body_of(HEADER, b"\0\x09"))


def test_a_stored_micro_batch_beyond_the_step_is_refused() -> None:
    numbers = np.array([0, 1], "<i4").tobytes()
    with pytest.raises(OrderError):
        wire.decode(body_of(HEADER | {"stored": 1}, b"\0\3" + numbers))


def test_a_decoded_order_that_deadlocks_is_refused_by_the_check() -> None:
    built = order(Spec("1f1b", 2, 2))
    f, b = 0, 3
    codes = np.array([f, b, f, b, f, f, b, b], np.uint8)  # rank 1 wants 0F1 first, rank 0 wants 1B0
    with pytest.raises(OrderError, match="deadlock"):
        check(wire.decode(wire.encode(Order(built.placement, 2, codes, built.offsets))))


def zeros(parts: int) -> bytes:
    """A zlib stream of that many times 16 MiB of zeros; a part is compressed once, because each is independent."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    part = deflate.compress(bytes(2**24)) + deflate.flush(zlib.Z_FULL_FLUSH)
    sums = struct.pack(">HH", (parts * 2**24) % 65521, 1)  # Adler-32 of zeros
    return b"\x78\xda" + parts * part + b"\x03\x00" + sums


def test_a_small_text_that_inflates_to_gigabytes_is_refused_before_it_takes_that_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 2**22
    monkeypatch.setattr(wire, "MOST_BYTES", most)
    bomb = zeros(4)
    assert zlib.decompress(bomb) == bytes(16 * most), "it is a whole stream, refused for its size alone"
    text = base64.b64encode(bomb).decode()
    tracemalloc.start()
    with pytest.raises(OrderError):
        wire.from_text(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * most


def test_the_text_of_a_large_order_is_small() -> None:
    built = order(Spec("1f1b", 64, 4096))
    assert len(wire.to_text(built)) < len(built) // 20
