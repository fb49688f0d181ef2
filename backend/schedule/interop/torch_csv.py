"""Read and write torch's schedule CSV: one line per rank, one cell per op, as in torch.distributed.pipelining.

Torch's own reader accepts invalid cells and silently drops the halves of pairs; this one raises an error that names
line and cell. Torch has no text for a stage on two ranks, so a DualPipe order cannot be written. Read are also files
with the letters of 2024 (B input gradient, W after it, BW full backward), and lowered files, which have messages beside
the ops (csv_messages.py).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from backend.schedule.errors import Message, OrderError, SpecError, message
from backend.schedule.interop.csv_messages import (
    Action,
    Row,
    cells_of,
    check_actions,
    check_sequence,
    check_streams,
    parse_action,
    posted,
)
from backend.schedule.interop.csv_table import SEPARATORS, lines_of
from backend.schedule.interop.op_rows import assemble
from backend.schedule.options.frozen import as_read, notes_on
from backend.schedule.order.messages import Messages
from backend.schedule.order.ops import KINDS as KIND_LETTERS
from backend.schedule.order.ops import Op, Pair, halves, parse
from backend.schedule.order.order import Order
from backend.schedule.simulation.check import check

MAX_BYTES = 64 * 2**20
LETTERS_OF_PAIR = 4  # that are also kinds of ops: (0F7;7B3)OVERLAP_F_B has F, B, F, B
IDLE_SLOTS = 16  # cells for an op, at most
PLACEMENTS = ("looped", "v")  # that a reader may name; without a name stages are where the file has them
_FULL_BACKWARD_OF_2024 = re.compile(r"(\d{1,6})BW(\d{1,8})")
_OF_2024 = {"B": "I", "BW": "B"}  # letters that meant something else
Letters = Literal["current", "2024"]


@dataclass(frozen=True, eq=False)
class CsvFile:
    """An order from a file, and the dialect of the file: its letters, and whether it is lowered. ``messages`` are those
    of a lowered file, as they stand there, ``notes`` are about them and about stages without backwards.
    """

    order: Order
    letters: Letters
    lowered: bool
    messages: Messages | None = None
    notes: tuple[Message, ...] = field(default=())

    @property
    def dialect(self) -> dict[str, str]:
        """Return the dialect as JSON: torch's name of the format, and whose letters."""
        return {"format": "compute_comms" if self.lowered else "compute_only", "letters": self.letters}

    @property
    def title(self) -> Message:
        """Return the dialect in words."""
        titles = {
            ("current", False): message("schedule.csv_dialect", "torch's CSV"),
            ("2024", False): message(
                "schedule.csv_dialect_2024", "torch's CSV with the letters of 2024 (B is the input gradient)"
            ),
            ("current", True): message("schedule.csv_dialect_lowered", "torch's CSV with messages (compute_comms)"),
            ("2024", True): message(
                "schedule.csv_dialect_lowered_2024",
                "torch's CSV with messages (compute_comms) and the letters of 2024 (B is the input gradient)",
            ),
        }
        return titles[self.letters, self.lowered]


def dump(order: Order) -> str:
    """Write an order as CSV text, with its sends and receives if it has messages on streams.

    Raises SpecError for an order with two replicas, S and T, or copies.
    """
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
    rows = (row.split() for row in order.text()) if order.messages is None else cells_of(order)
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def load(text: str, kind: str | None = None, most: int | None = None) -> Order:
    """Read the order of CSV text; empty cells are idle slots. ``kind`` is the placement, found from the stages if None.

    Reading stops at more than ``most`` ops. Raises OrderError for too many, for anything that is not an op, a stage on
    the wrong rank, or sizes that do not fit together; whether the order can run is checked by check.check.
    """
    return _load(text, kind, most)[0].order


def read(text: str, kind: str | None = None, most: int | None = None) -> Order:
    """Read the order of CSV text, checked as by ``read_file``."""
    return read_file(text, kind, most).order


def read_file(text: str, kind: str | None = None, most: int | None = None) -> CsvFile:
    """Read CSV text and check that its order can run, and that messages in it fit. Raises OrderError as ``load`` and
    check.check do, with line and cell.
    """
    letters: Letters = "current"
    try:
        found, rows = _load(text, kind, most)
        letters = found.letters
        check(found.order)
        if not found.lowered:
            return found
        halved = [_in_halves(row) for row in rows]
        check_actions(halved, found.order.placement)
        check_sequence(halved, found.order.placement)
        messages = posted(found.order.placement, rows)
        note = check_streams(found.order, messages)
    except OrderError as error:
        raise OrderError(_located(text, error, letters), rank=error.rank, op=error.op) from None
    return replace(found, messages=messages, notes=(*found.notes, *(() if note is None else (note,))))


def _load(text: str, kind: str | None, most: int | None) -> tuple[CsvFile, list[list[Op | Pair | Action]]]:
    """Return the file as it is, and each rank's cells."""
    if len(text) > MAX_BYTES:
        problem = message(
            "schedule.csv_too_large",
            "the file has {size} bytes; {most} is the most",
            size=f"{len(text):,}",
            most=f"{MAX_BYTES:,}",
        )
        raise OrderError(problem)
    if kind is not None and kind not in PLACEMENTS:
        problem = message(
            "schedule.csv_placement",
            "placement {placement} cannot be read from a CSV; it is looped or v",
            placement=repr(kind),
        )
        raise OrderError(problem)
    if most is not None:
        _check_length(text, most)
    cells: list[list[Op | Pair | Action]] = []
    rest = most
    for number, line in lines_of(text):
        if line:
            cells.append(_parse_line(number, line, rest, most))
            rest = None if rest is None else rest - sum(not isinstance(each, Action) for each in cells[-1])
    letters = _letters(cells)
    if letters == "2024":
        cells = [[_today(each) for each in row] for row in cells]
    ops = [[each for each in row if not isinstance(each, Action)] for row in cells]
    if not any(ops):
        problem = message(
            "schedule.csv_without_ops", "the file has no ops: expected one line per rank, such as 0F0,0F1,0B0,0B1"
        )
        raise OrderError(problem)
    lowered = any(len(row) < len(line) for row, line in zip(ops, cells, strict=True))
    order = as_read(assemble(ops, ("custom" if kind is None else kind,)))
    return CsvFile(order, letters, lowered, notes=notes_on(order)), cells


def _letters(rows: Sequence[Sequence[Op | Pair | Action]]) -> Letters:
    """Return whose letters the ops have: a W without any I belongs to the B of 2024."""
    kinds = {each.kind for row in rows for each in row if isinstance(each, Op)}
    if "I" in kinds and "BW" in kinds:
        problem = message(
            "schedule.csv_letters_mixed",
            "the file has ops I and BW, which no version of torch has together: the full backward is B beside I",
        )
        raise OrderError(problem)
    return "2024" if "BW" in kinds or ("W" in kinds and "I" not in kinds) else "current"


def _today(each: Op | Pair | Action) -> Op | Pair | Action:
    """Return an op of 2024 with today's letter."""
    return Op(_OF_2024.get(each.kind, each.kind), each.stage, each.micro) if isinstance(each, Op) else each


def _in_halves(row: Sequence[Op | Pair | Action]) -> Row:
    return [half for each in row for half in ((each,) if isinstance(each, Action) else halves(each))]


def _located(text: str, error: OrderError, letters: Letters) -> Message | str:
    """Return the error's message with the line and the cell of its rank and op, if the file has them."""
    if error.rank is None or error.code == "schedule.csv_cell":
        return error.message
    lines = [(number, cells) for number, cells in lines_of(text) if cells]
    number, cells = lines[error.rank]
    found = [
        column for column, cell in enumerate(cells, 1) if error.op is not None and error.op in _texts(cell, letters)
    ]
    if not found:
        return message("schedule.csv_line", "line {line}: {problem}", line=number, problem=error.message)
    cell = found[1] if error.code == "schedule.op_twice" and len(found) > 1 else found[0]
    return _in_cell(number, cell, error.message)


def _in_cell(line: int, cell: int, problem: str) -> Message:
    return message("schedule.csv_cell", "line {line}, cell {cell}: {problem}", line=line, cell=cell, problem=problem)


def _texts(cell: str, letters: Letters) -> tuple[str, ...]:
    """Return the text of a cell and those of a pair's halves, in today's letters."""
    if not cell:
        return ()
    each = _parse(cell)
    each = _today(each) if letters == "2024" else each
    return (each.text(),) if isinstance(each, Action) else (each.text(), *(half.text() for half in halves(each)))


def _check_length(text: str, most: int) -> None:
    """Raise OrderError for a text of certainly more than ``most`` ops, before its lines are split.

    An op has one letter of FIWB, with its messages up to three; a pair has four. A schedule has rarely more idle slots
    than ops.
    """
    letters = sum(text.count(letter) for letter in KIND_LETTERS)
    if letters > LETTERS_OF_PAIR * most or sum(map(text.count, SEPARATORS)) > IDLE_SLOTS * most:
        raise _too_many_ops(most)


def _too_many_ops(most: int | None) -> OrderError:
    return OrderError(
        message(
            "schedule.csv_too_many_ops",
            "the file has more than {most} ops, the most that a link holds; on the command line, check FILE.csv "
            "checks it, and run --csv FILE.csv runs it, whatever its length",
            most=f"{most:,}",
        )
    )


def _parse_line(number: int, cells: list[str], rest: int | None, most: int | None) -> list[Op | Pair | Action]:
    """Read the cells of a line, of which the file may have ``rest`` more ops and ``most`` in all."""
    found: list[Op | Pair | Action] = []
    ops = 0
    for column, cell in enumerate(cells, 1):
        if not cell:
            continue
        try:
            each = _parse(cell)
        except OrderError as error:
            text = _in_cell(number, column, error.message)
            raise OrderError(text, rank=number - 1, op=cell[:60]) from None
        ops += not isinstance(each, Action)
        if rest is not None and ops > rest:
            raise _too_many_ops(most)
        found.append(each)
    return found


def _parse(cell: str) -> Op | Pair | Action:
    """Read one cell; an op of 2024 keeps its letter. Raises OrderError for a text that is neither op nor action."""
    if "_" in cell or "SHARD" in cell:
        action = parse_action(cell)
        if action is not None:
            return action
    full = _FULL_BACKWARD_OF_2024.fullmatch(cell) if "BW" in cell else None
    return parse(cell) if full is None else Op("BW", int(full[1]), int(full[2]))
