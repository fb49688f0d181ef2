"""Read and write torch's schedule CSV: one line per rank, one cell per op, as in torch.distributed.pipelining.

Torch's own reader accepts invalid cells and silently drops the halves of pairs; this one raises an error that names
line and cell. Torch has no text for a stage on two ranks, so a DualPipe order cannot be written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from backend.schedule.errors import Message, OrderError, SpecError, message
from backend.schedule.interop.op_rows import assemble
from backend.schedule.order.ops import KINDS as KIND_LETTERS
from backend.schedule.order.ops import Op, Pair, halves, parse
from backend.schedule.order.order import Order
from backend.schedule.order.placement import KINDS
from backend.schedule.simulation.check import check

MAX_BYTES = 64 * 2**20
LETTERS_OF_PAIR = 4  # that are also kinds of ops: (0F7;7B3)OVERLAP_F_B has F, B, F, B
IDLE_SLOTS = 16  # cells for an op, at most


def dump(order: Order) -> str:
    """Write an order as CSV text. Raises SpecError for an order with two replicas, S and T, or copies."""
    if order.placement.streams > 1:
        text = message(
            "schedule.csv_has_no_dualpipe",
            "torch's CSV gives each stage one rank; Chimera and DualPipe hold every stage on two, so they cannot "
            "be written there (DualPipeV can)",
        )
        raise SpecError("format", "torch-csv", text, nearest="json")
    if order.barriers or order.copies is not None:
        text = message("schedule.csv_has_no_copies", "torch's CSV has no text for copies to host memory")
        if order.barriers:
            text = message("schedule.csv_has_no_shards", "torch's CSV has no text for S and T of a sharded vocabulary")
        raise SpecError("format", "torch-csv", text, nearest="json")
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([op.text() for op in order.row(rank)] for rank in range(order.p))
    return out.getvalue()


def load(text: str, kind: str | None = None, most: int | None = None) -> Order:
    """Read CSV text; empty cells are idle slots. ``kind`` is the placement, found from the stages if None.

    Reading stops at more than ``most`` ops. Raises OrderError for too many, for anything that is not an op, a stage on
    the wrong rank, or sizes that do not fit together;
    whether the order can run is checked by check.check.
    """
    if len(text) > MAX_BYTES:
        problem = message(
            "schedule.csv_too_large",
            "the file has {size} bytes; {most} is the most",
            size=f"{len(text):,}",
            most=f"{MAX_BYTES:,}",
        )
        raise OrderError(problem)
    if most is not None:
        _check_length(text, most)
    rows: list[list[Op | Pair]] = []
    rest = most
    for number, cells in _lines(text):
        if cells:
            rows.append(_parse_line(number, cells, rest, most))
            rest = None if rest is None else rest - len(rows[-1])
    if kind is not None and kind not in KINDS[:2]:
        problem = message(
            "schedule.csv_placement",
            "placement {placement} cannot be read from a CSV; it is looped or v",
            placement=repr(kind),
        )
        raise OrderError(problem)
    if not rows or not any(rows):
        problem = message(
            "schedule.csv_without_ops", "the file has no ops: expected one line per rank, such as 0F0,0F1,0B0,0B1"
        )
        raise OrderError(problem)
    return assemble(rows, ("custom" if kind is None else kind,))


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line. Raises OrderError for a misplaced quotation mark."""
    number = 0
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), strict=True), 1):
            yield number, cells
    except csv.Error:
        text_of = message(
            "schedule.csv_quotes",
            "line {line}: a quotation mark is out of place or not closed",
            line=number + 1,
        )
        raise OrderError(text_of) from None


def read(text: str, kind: str | None = None, most: int | None = None) -> Order:
    """Read the order of CSV text and check that it can run. Raises OrderError as ``load`` and check.check do, with
    line and cell.
    """
    try:
        order = load(text, kind, most)
        check(order)
    except OrderError as error:
        raise OrderError(_located(text, error), rank=error.rank, op=error.op) from None
    return order


def _located(text: str, error: OrderError) -> Message | str:
    """Return the error's message with the line and the cell of its rank and op, if the file has them."""
    if error.rank is None or error.code == "schedule.csv_cell":
        return error.message
    lines = [(number, cells) for number, cells in _lines(text) if cells]
    number, cells = lines[error.rank]
    found = [column for column, cell in enumerate(cells, 1) if error.op is not None and error.op in _texts(cell)]
    if not found:
        return message("schedule.csv_line", "line {line}: {problem}", line=number, problem=error.message)
    cell = found[1] if error.code == "schedule.op_twice" and len(found) > 1 else found[0]
    return _in_cell(number, cell, error.message)


def _in_cell(line: int, cell: int, problem: str) -> Message:
    return message("schedule.csv_cell", "line {line}, cell {cell}: {problem}", line=line, cell=cell, problem=problem)


def _texts(cell: str) -> tuple[str, ...]:
    """Return the text of an op and those of its halves."""
    op = parse(cell.strip()) if cell.strip() else None
    return () if op is None else (op.text(), *(half.text() for half in halves(op)))


def _check_length(text: str, most: int) -> None:
    """Raise OrderError for a text of certainly more than ``most`` ops, before its lines are split.

    An op has one letter of FIWB, a pair has four. A schedule has rarely more idle slots than ops.
    """
    letters = sum(text.count(letter) for letter in KIND_LETTERS)
    if letters > LETTERS_OF_PAIR * most or text.count(",") > IDLE_SLOTS * most:
        raise _too_many_ops(most)


def _too_many_ops(most: int | None) -> OrderError:
    return OrderError(
        message(
            "schedule.csv_too_many_ops",
            "the file has more than {most} ops, the most that a link holds; python app.py check FILE.csv checks it, "
            "and python app.py run --csv FILE.csv runs it, whatever its length",
            most=f"{most:,}",
        )
    )


def _parse_line(number: int, cells: list[str], rest: int | None, most: int | None) -> list[Op | Pair]:
    """Read the ops of a line, of which the file may have `rest` more and ``most`` in all."""
    ops: list[Op | Pair] = []
    for column, cell in enumerate(cells, 1):
        if cell.strip():
            if rest is not None and len(ops) == rest:
                raise _too_many_ops(most)
            try:
                ops.append(parse(cell.strip()))
            except OrderError as error:
                text = _in_cell(number, column, error.message)
                raise OrderError(text, rank=number - 1, op=cell[:60]) from None
    return ops
