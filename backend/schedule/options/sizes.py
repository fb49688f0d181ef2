"""Micro-batches that differ: the size of each, the order in which they enter, and what an op of each takes.

Documents differ in length, and so do the micro-batches that they are packed into. In traces of production jobs
(ByteDance-Seed/StragglerAnalysis) forwards and backwards of a micro-batch are correlated over .99 across stages, so one
list of sizes is enough: an op takes its cost times ``fixed + (1 - fixed) x`` with the size x of its micro-batch, and
keeps x times the activations. The page computes the same (static/js/core/schedule/sizes.ts), bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush

from backend.schedule.errors import SpecError, message

Sizes = str | tuple[float, ...]
Injection = str | tuple[int, ...]

SEARCHED = "searched"  # by registry.validate, which puts the order that it finds in place of the word
INJECTIONS = ("given", "mountain", SEARCHED)
DEALS: dict[str, str] = {
    "given": message("schedule.deal_given", "each replica takes the next m of the data"),
    "longest": message("schedule.deal_longest", "the longest first, each to the replica with the least work so far"),
}
MOST_REPLICAS = 512
MOST_SIGMA, MOST_SEED, MOST_SIZE, MOST_TOKENS = 2.0, 2**31 - 1, 1e6, 10**9
DIGITS = 1000  # a computed size has three decimals, so that no rounding of an exponential shows


def sizes_of(sizes: Sizes, m: int) -> tuple[float, ...]:
    """Return the size of each of ``m`` micro-batches, in the order of the data; those drawn or computed from token
    counts have mean 1. Raises SpecError for a text that is no rule.
    """
    if not isinstance(sizes, str):
        return sizes
    kind, _, rest = sizes.partition(":")
    if kind == "lognormal":
        sigma, seed = _rule(sizes, rest, (MOST_SIGMA, float(MOST_SEED)))
        if not seed.is_integer():
            raise _not_a_rule(sizes)
        return _lognormal(sigma, int(seed), m)
    head, _, lengths = rest.rpartition(":")
    if kind != "tokens" or not head:
        raise _not_a_rule(sizes)
    alpha, beta = _rule(sizes, head, (MOST_SIZE, MOST_SIZE))
    tokens = _numbers(sizes, lengths.split(","), float(MOST_TOKENS))
    whole = [alpha * length + beta * length * length for length in tokens]
    if min(whole) <= 0.0:
        raise _not_a_rule(sizes)
    return _of_mean_one(whole)


def entering(sizes: Sequence[float], injection: Injection) -> tuple[float, ...]:
    """Return the sizes of a replica's micro-batches in the order in which they enter the pipeline."""
    return tuple(sizes[micro] for micro in entry_order(sizes, injection))


@lru_cache(maxsize=64)
def dealt(sizes: Sizes, m: int, replicas: int, deal: str) -> tuple[tuple[float, ...], ...]:
    """Return the sizes of each data-parallel replica's ``m`` micro-batches, in the order of the data.

    *longest* gives each micro-batch, the longest first, to the replica with the least work so far that has fewer than
    m (Graham's longest processing time first, with m each); of equal ones to the first.
    """
    found = sizes_of(sizes, m * replicas)
    if deal == "given":
        return tuple(found[first : first + m] for first in range(0, m * replicas, m))
    taken = list[list[int]]([] for _ in range(replicas))
    least = [(0.0, replica) for replica in range(replicas)]  # a heap
    for micro in sorted(range(len(found)), key=lambda each: -found[each]):
        work, replica = heappop(least)
        taken[replica].append(micro)
        if len(taken[replica]) < m:
            heappush(least, (work + found[micro], replica))
    return tuple(tuple(found[micro] for micro in sorted(each)) for each in taken)


def repeated(sizes: Sizes, injection: Injection, m: int) -> tuple[Sizes, Injection]:
    """Return the same for another number of micro-batches: a list begins again after its last, and enters as given."""
    if isinstance(sizes, str) and not sizes.startswith("tokens"):
        listed: Sizes = sizes
    else:
        found = sizes_of(sizes, 0)
        listed = tuple(found[micro % len(found)] for micro in range(m))
    return listed, injection if isinstance(injection, str) else "given"


def entry_order(sizes: Sequence[float], injection: Injection) -> tuple[int, ...]:
    """Return which micro-batch of the data enters first, second and so on. ``mountain``: every other one from the
    smallest up, then the rest down, so that neighbours are alike and small ones fill and drain the pipeline.
    """
    if not isinstance(injection, str):
        return injection
    if injection == "given":
        return tuple(range(len(sizes)))
    assert injection == "mountain", "a spec that is not validated yet"
    rising = sorted(range(len(sizes)), key=lambda micro: sizes[micro])
    return (*rising[::2], *reversed(rising[1::2]))


@lru_cache(maxsize=64)
def _lognormal(sigma: float, seed: int, m: int) -> tuple[float, ...]:
    """Draw ``m`` sizes of mean 1 whose logarithms are normal with standard deviation ``sigma``."""
    uniform = _uniform(seed, 2 * m)
    normal = [
        math.sqrt(-2.0 * math.log(1.0 - uniform[2 * k])) * math.cos(2.0 * math.pi * uniform[2 * k + 1])
        for k in range(m)
    ]
    return _of_mean_one([math.exp(sigma * each) for each in normal])


def _of_mean_one(whole: Sequence[float]) -> tuple[float, ...]:
    """Return values over their mean, with three decimals and at least one of the last."""
    total = 0.0
    for each in whole:
        total += each
    return tuple(max(1.0, math.floor(each * len(whole) / total * DIGITS + 0.5)) / DIGITS for each in whole)


def _uniform(seed: int, count: int) -> list[float]:
    """Return numbers from 0 to below 1 by mulberry32, which JavaScript computes as quickly."""
    out, state, word = [], seed, 0xFFFFFFFF
    for _ in range(count):
        state = (state + 0x6D2B79F5) & word
        mixed = ((state ^ (state >> 15)) * (state | 1)) & word
        mixed ^= (mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61) & word)) & word
        out.append((mixed ^ (mixed >> 14)) / 2.0**32)
    return out


def read_rule(text: str) -> str:
    """Return a rule of sizes in its shortest form. Raises SpecError for a text that is none."""
    sizes_of(text, 1)
    kind, *parts = text.split(":")
    return ":".join([kind, *(",".join(_text(float(each)) for each in part.split(",")) for part in parts)])


def _text(x: float) -> str:
    return str(int(x)) if x.is_integer() else repr(x)


def _rule(sizes: str, text: str, most: tuple[float, float]) -> tuple[float, float]:
    """Return the two numbers of a rule."""
    parts = text.split(":")
    if len(parts) != 2:
        raise _not_a_rule(sizes)
    one, two = (_numbers(sizes, [part], top)[0] for part, top in zip(parts, most, strict=True))
    return one, two


def _numbers(sizes: str, texts: Sequence[str], most: float) -> list[float]:
    """Return texts as finite numbers from 0 to ``most``."""
    try:
        found = [float(each) for each in texts]
    except ValueError:
        raise _not_a_rule(sizes) from None
    if not all(0.0 <= each <= most for each in found) or "_" in "".join(texts):
        raise _not_a_rule(sizes)
    return found


def _not_a_rule(sizes: str) -> SpecError:
    text = message(
        "schedule.sizes_rule",
        "sizes is a list with a number for each micro-batch, lognormal:SIGMA:SEED with sigma from 0 to {sigma}, or "
        "tokens:ALPHA:BETA:LENGTHS, sizes of alpha L + beta L² for a list of token counts",
        sigma=f"{MOST_SIGMA:g}",
    )
    return SpecError("sizes", sizes[:80], text, nearest="lognormal:0.3:1")
