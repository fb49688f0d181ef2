"""Offsets between the clocks of hosts: the true offset is within the stated uncertainty, whatever the network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.telemetry.clock_sync import ClockMap, Exchange, offset_of

SECOND = 1_000_000_000
PPM = Fraction(1, 1_000_000)


@dataclass(frozen=True)
class Clock:
    """A clock with any start that runs too fast by `ppm`; `true` selects the true time, which no host knows."""

    begins: int
    ppm: Fraction

    def read(self, true: Fraction | int) -> int:
        return int(self.begins + true * (1 + self.ppm * PPM) // 1)


clocks = st.builds(Clock, st.integers(-(10**15), 10**15), st.fractions(-90, 90, max_denominator=100))
delays = st.integers(1_000, 40_000_000)  # 1 us to 40 ms, each way its own: as unequal as it comes
trips = st.lists(st.tuples(delays, st.integers(0, 2_000_000), delays), min_size=1, max_size=12)


def exchanges(asker: Clock, other: Clock, begin: int, trip: list[tuple[int, int, int]]) -> list[Exchange]:
    """Requests and responses, one after the other: the way there, the time until the response, the way back."""
    found, now = [], begin
    for there, thinking, back in trip:
        times = (now, now + there, now + there + thinking, now + there + thinking + back)
        found.append(Exchange(asker.read(times[0]), other.read(times[1]), other.read(times[2]), asker.read(times[3])))
        now = times[3] + 1000
    return found


@given(clocks, clocks, trips)
def test_the_true_offset_lies_within_the_stated_uncertainty(
    asker: Clock, other: Clock, trip: list[tuple[int, int, int]]
) -> None:
    found = offset_of(exchanges(asker, other, SECOND, trip))
    true = Fraction(found.at - asker.begins) / (1 + asker.ppm * PPM)
    assert abs(other.read(true) - asker.read(true) - found.offset) <= found.uncertainty + 1


@given(clocks, clocks, trips, trips, st.integers(1, 3600), st.fractions(0, 1, max_denominator=1000))
def test_a_reading_during_the_run_is_converted_to_the_requesters_clock_within_the_stated_uncertainty(
    asker: Clock, other: Clock, first: list[tuple[int, int, int]], last: list[tuple[int, int, int]], lasts: int,
    when: Fraction,
) -> None:  # fmt: skip
    early = exchanges(asker, other, 0, first)
    late = exchanges(asker, other, (lasts + 2) * SECOND, last)
    mapping = ClockMap(offset_of(early), offset_of(late))
    true = SECOND + when * lasts * SECOND
    converted = mapping.to_asker(other.read(true))
    assert abs(converted - asker.read(true)) <= mapping.uncertainty


@given(clocks, clocks, trips, st.integers(1_000, 5_000))
def test_one_quick_exchange_among_slow_ones_decides(
    asker: Clock, other: Clock, trip: list[tuple[int, int, int]], quick: int
) -> None:
    slow = [(there + 100_000, thinking, back + 100_000) for there, thinking, back in trip]
    found = offset_of(exchanges(asker, other, 0, [*slow, (quick, 0, quick), *slow]))
    assert found.uncertainty <= quick + 10


def test_without_drift_and_with_equal_ways_the_offset_is_exact() -> None:
    one, two = Clock(1000, Fraction(0)), Clock(5_000_000, Fraction(0))
    early, late = (offset_of(exchanges(one, two, at, [(500, 0, 500)])) for at in (0, SECOND))
    mapping = ClockMap(early, late)
    assert (early.offset, mapping.drift) == (4_999_000, 0)
    assert mapping.to_asker(two.read(123_456)) == one.read(123_456)


def test_drift_is_found_from_before_and_after() -> None:
    one, two = Clock(0, Fraction(0)), Clock(77, Fraction(50))
    early, late = (offset_of(exchanges(one, two, at, [(2000, 10, 3000)])) for at in (0, 100 * SECOND))
    assert float(ClockMap(early, late).drift / PPM) == pytest.approx(50, abs=0.1)


def test_responses_before_their_requests_and_no_exchange_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="before its question"):
        offset_of([Exchange(1000, 0, 0, 500)])
    with pytest.raises(ValueError, match="at least one"):
        offset_of([])
