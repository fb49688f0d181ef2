"""Dialects of torch's CSV: spreadsheets' separators, the letters of 2024, and lowered files with messages."""

from __future__ import annotations

import pytest

from backend.schedule.errors import OrderError
from backend.schedule.families.registry import order, read
from backend.schedule.interop import torch_csv
from backend.schedule.interop.csv_table import text_of
from backend.schedule.spec import Spec
from tests.support.strategies import equal_orders

ZB_H1 = order(read({"family": "zb-h1", "p": 3, "m": 4}))
PAIRS = order(Spec("dualpipev", 2, 4, 2))

RANK_0 = "0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD,0RESHARD"
RANK_1 = "1UNSHARD,1RECV_F0,1F0,1B0,1RECV_F1,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD"


def lowered(rank_0: str = RANK_0, rank_1: str = RANK_1) -> str:
    return f"{rank_0}\n{rank_1}\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("built", [ZB_H1, PAIRS], ids=["ops", "pairs"])
def test_a_spreadsheets_file_is_read_as_torchs_own(built: torch_csv.Order, separator: str) -> None:
    rows = [[op.text() for op in built.row(rank)] for rank in range(built.p)]
    text = "".join(separator.join(row) + "\r\n" for row in rows)
    quoted = "".join(separator.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    files = (text.encode("utf-8-sig"), text.encode("utf-16"), f"\ufeff{text}".encode(), quoted.encode())
    for file in files:
        assert equal_orders(torch_csv.read(text_of(file)), built)


def test_headings_a_column_of_ranks_and_empty_rows_are_no_ops() -> None:
    rows = torch_csv.dump(ZB_H1).splitlines()
    width = max(row.count(",") for row in rows) + 1
    head = ",".join(map(str, range(width)))
    files = (
        "sep=;\n" + "\n".join(row.replace(",", ";") for row in rows),
        head + "\n" + "\n".join(rows),
        f",{head}\n" + "\n".join(f"{rank},{row}" for rank, row in enumerate(rows)),
        f"rank,{head}\n" + "\n".join(f"rank {rank},{row}" for rank, row in enumerate(rows)),
        "\n".join(f"Rank {rank}:,{row}" for rank, row in enumerate(rows)),
        ",,,\n" + "\n\n".join(rows) + '\n,,\n"",""\n',
    )
    for text in files:
        assert equal_orders(torch_csv.read(text), ZB_H1)
    with pytest.raises(OrderError, match="line 3, cell 2: rank 1 does 0F1, but stage 0 is on rank 0"):
        torch_csv.read("rank,0,1\n0,0F0,0B0\n1,0F1,0B1")
    with pytest.raises(OrderError, match="line 1, cell 1: '1' is not an op"):
        torch_csv.read("1,0F0,0B0\n0,1F0,1B0")


def test_bytes_that_are_no_text_are_refused() -> None:
    for data in (b"\xff\xfe\x00", b"0F0\xff", "0F0,0B0".encode("utf-16-le")):
        with pytest.raises(OrderError) as refused:
            text_of(data)
        assert refused.value.code == "schedule.csv_not_text"


def test_the_letters_of_2024_are_recognized_by_a_w_without_any_i() -> None:
    today = torch_csv.dump(ZB_H1)
    assert {op.kind for op in ZB_H1.row(2) if isinstance(op, torch_csv.Op)} == {"F", "I", "W"}
    then = torch_csv.read_file(today.replace("I", "B"))
    assert equal_orders(then.order, ZB_H1)
    assert then.dialect == {"format": "compute_only", "letters": "2024"}
    assert torch_csv.read_file(today).dialect == {"format": "compute_only", "letters": "current"}
    mixed = torch_csv.read_file("0F0,0F1,0B0,0W0,0BW1\n1F0,1BW0,1F1,1BW1\n")
    assert mixed.order.text() == ["0F0 0F1 0I0 0W0 0B1", "1F0 1B0 1F1 1B1"]
    assert "2024" in mixed.title


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0F0,0F1,0B0,0W0,0B1\n", "line 1: rank 0 never does 0W1"),
        ("0F0,0F1,0I0,0W0,0BW1\n", "both|I and BW"),
        ("0F0,0W0,0B0\n", "line 1, cell 2: rank 0 does 0W0 before 0I0"),
    ],
)
def test_a_wrong_file_with_the_letters_of_2024_is_refused_with_its_cell(text: str, words: str) -> None:
    with pytest.raises(OrderError, match=words):
        torch_csv.read_file(text)


def test_a_lowered_file_gives_its_compute_part() -> None:
    found = torch_csv.read_file(lowered())
    assert found.order.text() == ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]
    assert found.dialect == {"format": "compute_comms", "letters": "current"}
    assert found.notes == ()
    assert "compute_comms" in found.title


def test_stages_that_are_neighbours_on_a_rank_need_no_message() -> None:
    text = "0F0,1F0,1SEND_F0,1RECV_B0,1B0,0B0\n2RECV_F0,2F0,2B0,2SEND_B0\n"
    assert torch_csv.read_file(text).order.placement.ranks == (0, 0, 1)
    with pytest.raises(OrderError, match="line 1, cell 2: rank 0 does 0SEND_F0, but no other rank"):
        torch_csv.read_file(text.replace("0F0,1F0", "0F0,0SEND_F0,1F0"))


@pytest.mark.parametrize(
    ("rank_0", "rank_1", "words"),
    [
        (
            RANK_0,
            RANK_1.replace("1RECV_F1,", ""),
            "line 1, cell 5: rank 0 does 0SEND_F1, and rank 1 never does 1RECV_F1",
        ),
        (
            RANK_0.replace(",0SEND_F1", ""),
            RANK_1,
            "line 2, cell 5: rank 1 does 1RECV_F1, and rank 0 never does 0SEND_F1",
        ),
        (RANK_0.replace("0F1,0SEND_F1", "0SEND_F1,0F1"), RANK_1, "line 1, cell 4: rank 0 does 0SEND_F1 before 0F1"),
        (RANK_0.replace("0RECV_B0,0B0", "0B0,0RECV_B0"), RANK_1, "line 1, cell 6: rank 0 does 0B0 before 0RECV_B0"),
        (RANK_0 + ",0SEND_F0", RANK_1, "line 1, cell 12: rank 0 does 0SEND_F0 twice"),
        (RANK_0.replace("0UNSHARD,", "") + ",0UNSHARD", RANK_1, "cell 1: rank 0 does 0F0 while stage 0 is sharded"),
        (RANK_0.replace("0B1,0REDUCE_GRAD", "0REDUCE_GRAD,0B1"), RANK_1, "0B1 after 0REDUCE_GRAD"),
        (RANK_0 + ",1RESHARD", RANK_1, "rank 0 does 1RESHARD, but does not have stage 1"),
        (RANK_0 + ",0REDUCE_GRAD", RANK_1, "line 1, cell 12: rank 0 does 0REDUCE_GRAD twice"),
        (RANK_0 + ",0RESHARD", RANK_1, "cell 11: rank 0 does 0RESHARD, but no op has used stage 0"),
        ("0UNSHARD," + RANK_0, RANK_1, "rank 0 does 0UNSHARD again without 0RESHARD"),
        (RANK_0.replace("0UNSHARD,", "0UNSHARD,0RESHARD,"), RANK_1, "cell 2: rank 0 does 0RESHARD, but no op has used"),
        (RANK_0 + ",1SEND_B0", RANK_1, "rank 0 does 1SEND_B0, but does not have stage 1"),
        (RANK_0 + ",0SEND_B0", RANK_1, "rank 0 does 0SEND_B0, but no other rank"),
        (RANK_0 + ",0SEND_F", RANK_1, "'0SEND_F' is not an op"),
        (RANK_0 + ",0UNSHARD1", RANK_1, "'0UNSHARD1' is not an op"),
        (
            RANK_0.replace("0SEND_F0,0F1,0SEND_F1", "0F1,0SEND_F1,0SEND_F0"),
            RANK_1,
            "line 2, cell 2: rank 1 does 1RECV_F0 where rank 0 does 0SEND_F1",
        ),
    ],
)
def test_messages_that_do_not_fit_are_refused_with_rank_and_action(rank_0: str, rank_1: str, words: str) -> None:
    with pytest.raises(OrderError, match=words):
        torch_csv.read_file(lowered(rank_0, rank_1))


def test_messages_that_wait_for_each_other_on_one_stream_are_noted() -> None:
    (note,) = torch_csv.read_file(lowered(rank_1=RANK_1.replace("1RECV_F1,1SEND_B0", "1SEND_B0,1RECV_F1"))).notes
    assert note.code == "schedule.csv_deadlock_on_one_stream"
    assert "rank 0 waits at 0SEND_F1 for 1RECV_F1 on rank 1, rank 1 waits at 1SEND_B0 for 0RECV_B0 on rank 0" in note


def test_messages_that_wait_for_each_other_on_any_streams_are_refused() -> None:
    """1F1 is before 1F0, and the activation that it needs is sent after that of 2F0, which needs 1F0."""
    rank_0 = "0F0,0SEND_F0,0F1,2RECV_F0,2F0,2SEND_F0,0SEND_F1,2RECV_F1,2F1,2SEND_F1"
    rank_1 = "1RECV_F0,3RECV_F0,1RECV_F1,1F1,1F0,1SEND_F0,1SEND_F1,3F0,3RECV_F1,3F1"
    with pytest.raises(OrderError, match="deadlock: rank 0 waits at 2F0 for 1F0 on rank 1, rank 1 ") as refused:
        torch_csv.read_file(lowered(rank_0, rank_1))
    assert refused.value.code == "schedule.csv_deadlock"
