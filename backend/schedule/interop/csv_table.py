"""Read the lines and cells of a CSV as programs and spreadsheets write it: cells between commas, semicolons or tabs, a
byte order mark or none.
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
_TAKEN = "\x1f"  # stands for it while cells are split at semicolons


def text_of(data: bytes) -> str:
    """Return the text of a file's bytes. Raises OrderError for bytes that are not text."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8")
    except UnicodeDecodeError:
        raise OrderError(message("schedule.csv_not_text", "the file is not text")) from None


def separator_of(text: str) -> str:
    """Return the separator of the first line with any, not counting those inside overlapped pairs; else a comma."""
    for line in io.StringIO(text):
        bare = _PAIR.sub("", line)
        found = [each for each in SEPARATORS if each in bare]
        if found:
            return max(found, key=bare.count)
    return SEPARATORS[0]


def lines_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line, without blanks around them. Raises OrderError for a misplaced
    quotation mark.
    """
    text = text.removeprefix("\ufeff")
    separator, number = separator_of(text), 0
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
