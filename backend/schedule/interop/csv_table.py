"""Read the lines and cells of a CSV as programs and spreadsheets write it: cells between commas, semicolons or tabs, a
byte order mark or none, a row of headings and a column of ranks or none.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator

from backend.schedule.errors import OrderError, message

SEPARATORS = ",;\t"
_PAIR = re.compile(r"\(([^()\n]*);([^()\n]*)\)")  # has a semicolon of its own
SEPARATOR = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)  # a first line that spreadsheets write
_HEADING = re.compile(r"(?:(?:rank|device|stage|step|slot|time)s?)? *\d{0,6}", re.IGNORECASE | re.ASCII)
_RANK = re.compile(r"(?:rank|device)? *(\d{1,6}):?", re.IGNORECASE | re.ASCII)
_TAKEN = "\x1f"  # stands for it while cells are split at semicolons


UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NOT_TEXT = message("schedule.csv_not_text", "the file is not text in UTF-8, nor in UTF-16 with a byte order mark")


def text_of(data: bytes) -> str:
    """Return the text of a file's bytes. Raises OrderError for bytes that are not text."""
    try:
        text = data.decode("utf-16" if data.startswith(UTF16) else "utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise OrderError(NOT_TEXT)
    return text


def separator_of(text: str) -> str:
    """Return the separator of the first line with any, not counting those inside overlapped pairs; else a comma."""
    for line in io.StringIO(text):
        bare = _PAIR.sub("", line)
        found = [each for each in SEPARATORS if each in bare]
        if found:
            return max(found, key=bare.count)
    return SEPARATORS[0]


def lines_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line, without blanks around them; none of an empty line. Headings, and
    the ranks before their ops, are empty cells. Raises OrderError for a misplaced quotation mark.
    """
    lines = list(_lines_of(text))
    filled = [cells for _, cells in lines if any(cells)]
    if filled and all(_HEADING.fullmatch(cell) for cell in filled[0]):
        filled.pop(0)[:] = []
    if filled and all(_RANK.fullmatch(cells[0]) and int(_RANK.sub(r"\1", cells[0])) == rank
                      for rank, cells in enumerate(filled)):  # fmt: skip
        for cells in filled:
            cells[0] = ""
    for number, cells in lines:
        yield number, cells if any(cells) else []


def _lines_of(text: str) -> Iterator[tuple[int, list[str]]]:
    text, number = text.removeprefix("\ufeff"), 0
    stated = SEPARATOR.match(text)
    separator = stated[1] if stated else separator_of(text)
    text = "\n" + text[stated.end() :] if stated else text
    if separator == ";":
        text = _PAIR.sub(rf"(\1{_TAKEN}\2)", text)
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 1):
            yield number, [cell.replace(_TAKEN, ";").strip() for cell in cells]
    except csv.Error:
        text_of_error = message(
            "schedule.csv_quotes",
            "line {line}: a quotation mark is out of place or not closed",
            line=number + 1,
        )
        raise OrderError(text_of_error) from None
