"""One clock for several hosts: the offset of each host's clock from the first one's, its drift and its uncertainty.

Every host's CLOCK_MONOTONIC starts at any value and runs at a rate of its own, within some 100 ppm of true. In one
exchange, the asker notes when it sent its question and when the answer came, the other when the question came and when
it answered. The offset is wrong by at most half of the round trip without the time for answering, however unequal the
two ways are (Cristian 1989; NTP, RFC 5905); so of several exchanges the one with the shortest round trip is used. From
offsets before and after a run follows the drift, and times between are interpolated. Pure: uses no sockets, and
measures nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from backend.errors import message

MAX_DRIFT = Fraction(1, 5000)  # of two clocks, 200 ppm: the worst of quartz clocks


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer, in ns: `asked` and `returned` by the asker's clock, `received` and `answered` by the
    other's."""

    asked: int
    received: int
    answered: int
    returned: int

    @property
    def delay(self) -> int:
        """Return the time of both ways together, in ns, if the clocks run at the same rate."""
        return (self.returned - self.asked) - (self.answered - self.received)


@dataclass(frozen=True, slots=True)
class Offset:
    """The other's clock minus the asker's, in ns, at a time `at` of the asker's; wrong by at most `uncertainty`."""

    at: int
    offset: Fraction
    uncertainty: Fraction


@dataclass(frozen=True, slots=True)
class ClockMap:
    """The other's clock as a line through two offsets: `offset + drift * (t - at)` at a time t of the asker's."""

    before: Offset
    after: Offset

    @property
    def drift(self) -> Fraction:
        """Return the nanoseconds that the other's clock gains per nanosecond of the asker's."""
        apart = self.after.at - self.before.at
        return (self.after.offset - self.before.offset) / apart if apart > 0 else Fraction(0)

    def to_asker(self, reading: int) -> int:
        """Return the asker's time at a reading of the other's clock, rounded to ns."""
        since = reading - self.before.at - self.before.offset
        return self.before.at + round(since / (1 + self.drift))

    @property
    def uncertainty(self) -> int:
        """Return how far `to_asker` may be off, in ns, for any reading between the two exchanges.

        Between two ends with an error each, a line's error is at most the larger of them; rounding adds 1 ns.
        """
        widest = max(self.before.uncertainty, self.after.uncertainty)
        return -int(-widest * (1 + MAX_DRIFT) // 1) + 1


def offset_of(exchanges: Sequence[Exchange]) -> Offset:
    """Return the offset from repeated exchanges: that of the shortest round trip. Raises ValueError without exchanges,
    or where an answer came before its question."""
    if not exchanges:
        raise ValueError(message("runner.no_exchange", "an offset needs at least one exchange"))
    best = min(exchanges, key=lambda each: each.delay)
    if (
        best.delay < -MAX_DRIFT * (best.returned - best.asked)
        or best.returned < best.asked
        or best.answered < best.received
    ):
        raise ValueError(
            message("runner.early_answer", "an answer came before its question: {exchange}", exchange=repr(best))
        )
    middle = Fraction(best.asked + best.returned, 2)
    offset = Fraction(best.received + best.answered, 2) - middle
    # Half of the delay, and what the clocks drift apart over the exchange.
    spread = Fraction(max(best.delay, 0), 2) + MAX_DRIFT * (best.returned - best.asked)
    return Offset(round(middle), offset, spread + 1)
