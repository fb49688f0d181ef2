"""Tables of the commands as text."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def columns(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """Return lines of cells, all as long as the first, in columns of one width; those at ``left`` are left-aligned, the
    others, numbers, right-aligned.
    """
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
