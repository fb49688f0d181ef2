"""Explain why a rank is idle at a time of a planned schedule, from the order and its times alone.

The sentences are those of the page (static/js/core/explain/why_idle.ts); a test compares both in every gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.order.copy_lanes import LETTERS as COPY_LETTERS
from backend.schedule.order.copy_lanes import O, R
from backend.schedule.order.dependencies import rules_of
from backend.schedule.order.ops import LETTERS, PAIR, B, F, S, T, W
from backend.schedule.order.order import code_table, decode, micro_numbers
from backend.schedule.simulation.costs import leads
from backend.schedule.simulation.memory import curve
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.timeline import Floats, Timeline
from backend.schedule.spec import Spec

Kind = Literal["fill", "wait", "line", "limit", "cap", "drain"]
"""fill: before the first op; wait: for an input; line: for a message that has been made, behind another one at the head
of a stream; limit: a forward could run, but as many micro-batches are in flight as the order admits; cap: as the memory
limit allows; drain: after the last op."""
What = Literal["activation", "gradient", "barrier", "copy"]
ROUNDING = 1e-9


@dataclass(frozen=True)
class Idle:
    """A time in which a rank is idle: from ``start`` to ``end``, in the costs' unit.

    ``why`` is the reason, ``sentence`` says it in full. ``next`` is the text of the op that ends it, ``awaits`` that of
    the op which makes the input that came last; None where there is none.
    """

    rank: int
    start: float
    end: float
    kind: Kind
    why: str
    sentence: str
    next: str | None = None
    awaits: str | None = None


class Part(NamedTuple):
    """An op, or half of a pair: its slot, its micro-batch in the slot, and its text."""

    kind: int
    slot: int
    k: int
    text: str


class Input(NamedTuple):
    """An input of an op: the op or copy ``i`` that makes it, when it arrives, whether by a message between ranks, the
    texts of both, the receive of its message on a stream, -1 for none, and how long before it the taker may begin.
    """

    i: int
    arrives: float
    hop: bool
    what: What
    giver: str
    taker: str
    receive: int = -1
    lead: float = 0.0


@dataclass(frozen=True, eq=False)
class IdleReasons:
    """The reasons of a legal order's idle times. Ops are numbered as in ``order.codes``, copies after them.

    ``timeline`` are the planned times of the spec's order; ``family`` is its name in sentences.
    """

    timeline: Timeline
    spec: Spec
    family: str = "The order"

    def at(self, rank: int, time: float) -> Idle | None:
        """Return why a rank is idle at a time; None where it is busy, or the time is outside of the step."""
        order, end = self.timeline.order, self.timeline.end
        makespan = float(end.max())
        if not 0 <= time <= makespan:
            return None
        low, high = order.offsets[rank : rank + 2].tolist()
        i = low + int(np.searchsorted(end[low:high], time, "right"))
        if i < high and self.timeline.start[i] <= time:
            return None
        begin = float(end[i - 1]) if i > low else 0.0
        if i < high:
            return self._wait(rank, i, begin)
        if begin >= makespan:
            return None
        why = "drain: no work is left for it in this step"
        return Idle(rank, begin, makespan, "drain", why, _idle(rank, begin, makespan, why))

    def _wait(self, rank: int, i: int, begin: float) -> Idle:
        end = float(self.timeline.start[i])
        tolerance = ROUNDING * max(1.0, float(self.timeline.end.max()))
        last = self._last(i)
        assert last is not None, "an op of a plan starts at once or when its last input arrives"
        fills = i == self.timeline.order.offsets[rank]
        held, forward = (None, "") if fills else self._held_back(rank, i, begin, end - tolerance)
        kind: Kind = "fill" if fills else held[0] if held else "line" if self._held_up(last) else "wait"
        why = self._awaited(last, fills, end)
        if kind == "line":
            why = f"head of line: {why}"
        if held:
            why = f"{held[1]}; {why}"
        sentences = [_idle(rank, begin, end, why), self._deeper(last.i, begin, tolerance)]
        text = self._text(i)
        if forward and not held:
            sentences.append(f"{forward} could run already, but the order has {text} first.")
        return Idle(rank, begin, end, kind, why, " ".join(filter(None, sentences)), text, self._text(last.i))

    def _awaited(self, last: Input, fills: bool, end: float) -> str:
        taker, giver, came = last.taker, f"{last.giver} on rank {self._rank(last.i)}", self._travel(last, end)
        if last.what == "barrier":
            return f"{taker} waits for the barrier, to which {giver} comes last, which {came}"
        if last.what == "copy":
            return f"{taker} waits for its activation to come back: the copy lane does {last.giver}, which {came}"
        if fills:
            first = f"{taker}'s input is the output of {giver}, which {came}"
            return f"fill: it waits for the first micro-batch. {first}"
        thing = "input" if last.what == "activation" else "gradient"
        before = f"; {taker} recomputes for {_number(last.lead)} before" if last.lead > 0 else ""
        return f"it waits for {taker}'s {thing}, the output of {giver}, which {came}{before}"

    def _travel(self, last: Input, by: float = np.inf) -> str:
        ended, hop = self._times[1][last.i], self._hop
        if last.receive >= 0:
            arrives = last.arrives + last.lead
            there = _number(arrives)
            held_up = self._held_up(last)
            if held_up:
                late = f" and arrives at {there}" if arrives > self.timeline.sent[last.receive] else ""
                return f"ends at {_number(ended)}; its message waits {held_up}{late}"
            return f"ends at {_number(ended)}" + (f" and arrives at {there}" if arrives > ended else "")
        if not last.hop or hop == 0:
            return f"ends at {_number(ended)}"
        if ended + hop > by:
            return f"ends at {_number(ended)} and arrives by {_number(by)}"
        return f"ends at {_number(ended)} and arrives at {_number(ended + hop)} after a hop of {_number(hop)}"

    def _held_up(self, last: Input) -> str:
        """Return what a message that has been made waits for: the end before one of its own on a stream, or that its
        other end is posted; "" where it passes at once.
        """
        found, order = self.timeline.order.messages, self.timeline.order
        if found is None or last.receive < 0:
            return ""
        sent = float(self.timeline.sent[last.receive])
        if sent <= self._times[1][last.i] + ROUNDING * max(1.0, float(self.timeline.end.max())):
            return ""
        for end in (last.receive, int(found.partner[last.receive])):
            rank = int(found.rank[end])
            same = np.flatnonzero((found.rank == rank) & (found.stream == found.stream[end]))
            before = same[same < end]
            if len(before) and self.timeline.arrived[before[-1]] == sent:
                first = found.text(int(before[-1]), order.placement)
                return f"until {_number(sent)} behind {first} on a stream of rank {rank}"
        end = last.receive
        issuer = self._text(int(order.offsets[found.rank[end]] + found.issued[end]) - 1)
        return f"until {_number(sent)} for its receive, which rank {int(found.rank[end])} posts after {issuer}"

    def _deeper(self, i: int, begin: float, tolerance: float) -> str:
        """Return what held an awaited op back, where it started only after the gap began."""
        starts, ends = self._times
        if starts[i] <= begin + tolerance:
            return ""
        rank, copied = self._rank(i), i >= len(self.timeline.order)
        free = float(ends[i - 1]) if i > self._rows(copied)[rank] else 0.0
        last = self._last(i)
        if last is not None and last.arrives > free + tolerance:
            where = f"{last.giver} on rank {self._rank(last.i)}"
            return f"{self._text(i)} itself waits for {where}, which {self._travel(last)}."
        if free <= begin + tolerance:
            return ""
        who = "The copy lane" if copied else f"Rank {rank}"
        return f"{who} is busy with {self._text(i - 1)} until {_number(free)} before that."

    def _held_back(
        self, rank: int, i: int, begin: float, ready: float
    ) -> tuple[tuple[Literal["cap", "limit"], str] | None, str]:
        """Return which limit keeps the rank's next forward from running before op i, and in words, None where the order
        alone does; and that forward, "" where none has its input before ``ready``.
        """
        order, spec = self.timeline.order, self.spec
        stop = int(order.offsets[rank + 1])
        kinds = code_table(order.chunks)[order.codes[order.offsets[rank] : stop]]
        ahead = i - int(order.offsets[rank])
        forwards = np.flatnonzero(np.isin(kinds[ahead:, 0], (F, PAIR)))
        if not len(forwards) or forwards[0] == 0:
            return None, ""
        following = i + int(forwards[0])
        inputs = [each for each in self._inputs(following) if each.what == "activation"]
        if inputs and inputs[0].arrives >= ready:
            return None, ""
        text = self._text(following)
        chunk, alone = int(kinds[following - int(order.offsets[rank]), 1]), order.forward_slots[rank]
        if alone[chunk]:  # it keeps nothing
            return None, text
        if spec.memory is not None:
            times, levels = curve(self.timeline, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
            at = int(np.searchsorted(times, begin, "right")) - 1
            holds = float(levels[at]) if at >= 0 else 0.0
            takes = float(np.broadcast_to(spec.kept, (order.chunks,))[chunk]) / spec.v
            if self.timeline.sizes is not None:
                micro = int(self._micro[following, 0]) + order.n * order.placement.stream(rank, chunk)
                takes *= self.timeline.sizes[micro]
            if holds + takes > spec.memory * (1 + ROUNDING):
                cap = f"memory cap: it holds {_number(holds)}, and with {text} it would be above its limit of"
                return ("cap", f"{cap} {_number(spec.memory)}"), text
        taken = (kinds[:, 0] == F) & ~alone[kinds[:, 1]]
        flights = np.cumsum(taken.astype(int) - np.isin(kinds[:, 0], (W, B)))
        count = int(flights[ahead - 1])
        if count < max(0, int(flights.max())):
            return None, text
        what = f"{count} chunks" if order.chunks > 1 else f"{count}"
        limit = f"{self.family} admits at most {what} in flight here, so {text} may not start yet"
        return ("limit", f"{limit} (the order's rule, not the GPU's)"), text

    def _last(self, i: int) -> Input | None:
        """Return the input that arrives last, the first of several at once."""
        return max(self._inputs(i), key=lambda each: each.arrives, default=None)

    def _inputs(self, i: int) -> list[Input]:
        order = self.timeline.order
        if i >= len(order):
            return self._inputs_of_copy(i)
        rank, rule, found = self._rank(i), rules_of(order), list[Input]()
        code = int(order.codes[i])
        parts = self._parts(i)
        for half, part in enumerate(parts):
            row = int(rule.need[rank, code, half])
            if order.barriers and row >= rule.joins:
                all_of = self._shards(S if row == rule.joins else T, part.k)
                lead = self._lead(i, half)
                found += [self._input(int(each), "barrier", order.p > 1, self._text(i), lead=lead) for each in all_of]
            elif row >= 0:
                made = int(self._made_by[0][i, half])
                what: What = "activation" if part.kind in (F, S) else "gradient"
                giver = self._half(made, row)
                result, crosses = (row, part.k), bool(self._made_by[1][i, half])
                found.append(self._input(made, what, crosses, part.text, giver, result, self._lead(i, half)))
        if order.copies is not None and parts[-1].kind not in (F, W, S, T):
            back = self._copies[1].get((R, parts[-1].slot, parts[-1].k))
            if back is not None:
                found.append(self._input(back, "copy", False, self._text(i)))
        return found

    def _input(
        self, i: int, what: What, hop: bool, taker: str, giver: str | None = None, result: tuple[int, int] = (-1, -1),
        lead: float = 0.0,
    ) -> Input:  # fmt: skip
        """``result``: the row and micro-batch of what is sent."""
        receive = self._receives.get(result, -1) if hop else -1
        ended = float(self._times[1][i] if receive < 0 else self.timeline.arrived[receive])
        arrives = (ended + self._hop if hop else ended) - lead
        return Input(i, arrives, hop, what, self._text(i) if giver is None else giver, taker, receive, lead)

    def _lead(self, i: int, half: int) -> float:
        """Return how long before a half's input arrives op i may begin."""
        return float(self._leads[i, half])

    @cached_property
    def _hop(self) -> float:
        return self.spec.timing.comm

    @cached_property
    def _leads(self) -> Floats:
        return leads(self.timeline.order, self.spec.timing, self.spec.v)

    def _inputs_of_copy(self, i: int) -> list[Input]:
        order = self.timeline.order
        kind, slot, k = self._copied(i)
        if kind == R:
            source = self._copies[1][O, slot, k]
        else:
            rank, chunk = divmod(slot, order.chunks)
            low, high = order.offsets[rank : rank + 2]
            kinds = code_table(order.chunks)[order.codes[low:high]]
            forwards = np.isin(kinds[:, 0], (F, PAIR)) & (kinds[:, 1] == chunk) & (self._micro[low:high, 0] == k)
            source = int(low + np.flatnonzero(forwards)[0])
        return [self._input(source, "copy", False, self._text(i))]

    def _parts(self, i: int) -> list[Part]:
        """Return an op's halves: one, or a pair's two."""
        order = self.timeline.order
        rank = self._rank(i)
        kind, chunk, other = decode(int(order.codes[i]), order.chunks)
        halves = [(F, chunk), (B, other)] if kind == PAIR else [(kind, chunk)]
        return [
            Part(each, rank * order.chunks + at, k := int(self._micro[i, half]), self._spelled(each, rank, at, k))
            for half, (each, at) in enumerate(halves)
        ]

    def _half(self, i: int, row: int) -> str:
        """Return the text of the half of an op that makes a result: forwards have even rows, gradients odd ones."""
        return self._parts(i)[-1 if row % 2 else 0].text

    def _text(self, i: int) -> str:
        order = self.timeline.order
        if i >= len(order):
            kind, slot, k = self._copied(i)
            return f"{order.placement.stage(*divmod(slot, order.chunks))}{COPY_LETTERS[kind]}{k}"
        texts = [part.text for part in self._parts(i)]
        return texts[0] if len(texts) == 1 else f"({';'.join(texts)})OVERLAP_F_B"

    def _spelled(self, kind: int, rank: int, chunk: int, k: int) -> str:
        order = self.timeline.order
        return f"{order.placement.stage(rank, chunk)}{LETTERS[kind]}{k + order.n * order.placement.stream(rank, chunk)}"

    def _rank(self, i: int) -> int:
        return int(np.searchsorted(self._rows(i >= len(self.timeline.order)), i, "right")) - 1

    def _rows(self, copied: bool) -> npt.NDArray[np.int64]:
        """Return (p + 1,) where each rank's ops begin, or its copies."""
        order = self.timeline.order
        return order.copies.offsets + len(order) if copied and order.copies is not None else order.offsets

    def _shards(self, kind: int, k: int) -> npt.NDArray[np.int64]:
        """Return every rank's S, or T, of a micro-batch."""
        kinds = code_table(self.timeline.order.chunks)[self.timeline.order.codes, 0]
        return np.flatnonzero((kinds == kind) & (self._micro[:, 0] == k))

    def _copied(self, i: int) -> tuple[int, int, int]:
        return self._copies[0][i - len(self.timeline.order)]

    @cached_property
    def _times(self) -> tuple[Floats, Floats]:
        times = self.timeline
        return np.append(times.start, times.copy_start), np.append(times.end, times.copy_end)

    @cached_property
    def _receives(self) -> dict[tuple[int, int], int]:
        """Return the receive of each message on a stream, by row and micro-batch of what is sent."""
        found = self.timeline.order.messages
        if found is None:
            return {}
        ends = zip(found.row.tolist(), found.micro.tolist(), found.receive.tolist(), strict=True)
        return {(row, micro): end for end, (row, micro, receive) in enumerate(ends) if receive}

    @cached_property
    def _micro(self) -> npt.NDArray[np.int32]:
        """Return (N, 2) the micro-batch of each op in its slot, and of each pair's backward half."""
        order = self.timeline.order
        return np.concatenate([np.stack(micro_numbers(order, rank), 1) for rank in range(order.p)])

    @cached_property
    def _made_by(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        return producers(self.timeline.order)

    @cached_property
    def _copies(self) -> tuple[list[tuple[int, int, int]], dict[tuple[int, int, int], int]]:
        """Return (kind, slot, micro-batch) of each copy, and the number of the copy that is one."""
        order = self.timeline.order
        each = [
            (kind, rank * order.chunks + chunk, k)
            for rank in range(order.p if order.copies is not None else 0)
            for kind, chunk, k, _ in order.copies.row(rank, order.chunks)  # type: ignore[union-attr]
        ]
        return each, {copy: len(order) + at for at, copy in enumerate(each)}


def _idle(rank: int, begin: float, end: float, why: str) -> str:
    return f"Rank {rank} is idle from {_number(begin)} to {_number(end)}: {why}."


def _number(x: float) -> str:
    """Format a number for prose: at most four decimals, no trailing zeros; a tiny one to three digits."""
    x = float(x)
    if x != 0 and abs(x) < 5e-5:
        mantissa, power = f"{x:.2e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    rounded = float(Decimal(x).quantize(Decimal("0.0001"), ROUND_HALF_UP))
    return str(int(rounded)) if rounded.is_integer() else repr(rounded)
