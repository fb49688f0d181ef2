"""Modes of an option: one word for all chunks of a device, or one word per chunk, first chunk first.

Chunk c of every device is the same part of the model, stages c*p to (c + 1)*p - 1, whether stages are placed looped or
in a V. A list that means the same as a word is replaced by it, so that equal specs are equal. The page does the same
(static/js/core/schedule/per_chunk.ts). Recomputation and offload are chosen this way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
Modes = str | tuple[str, ...]


def in_one_word(modes: Sequence[str], words: Sequence[str], half: str | None = None) -> Modes:
    """Return the word that means the same as these modes, one per chunk, or the modes if there is none.

    ``words`` are the modes that a chunk can have. ``half`` is the word for the first half of the chunks, rounded up,
    in the last of ``words`` and the others in the first.
    """
    if len(set(modes)) == 1:
        return modes[0]
    if half is not None and tuple(modes) == first_half(len(modes), words[-1], words[0]):
        return half
    return tuple(modes)


def first_half(chunks: int, mode: str, other: str) -> tuple[str, ...]:
    """Return (chunks,) modes: ``mode`` of the first half of the chunks, rounded up, and ``other`` of the rest."""
    return (mode,) * ((chunks + 1) // 2) + (other,) * (chunks // 2)


def of_stages(modes: Modes, stages: int) -> tuple[str, ...]:
    """Return the mode of each stage."""
    if isinstance(modes, str):
        return (modes,) * stages
    return tuple(modes[stage * len(modes) // stages] for stage in range(stages))


def over_chunks(modes: Modes, v: int) -> Modes:
    """Return the modes of the same parts of the model if each device has ``v`` chunks; the first of a larger part."""
    return modes if isinstance(modes, str) else tuple(modes[c * len(modes) // v] for c in range(v))


def values_of(modes: Modes, table: Mapping[str, T]) -> T | tuple[T, ...]:
    """Return the value of a word in a table, or of every chunk's word."""
    return table[modes] if isinstance(modes, str) else tuple(table[mode] for mode in modes)
