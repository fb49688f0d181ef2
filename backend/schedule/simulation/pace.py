"""Choose how long a unit of the costs lasts in a paced run if the user has not.

The server, the runner and the page (static/js/core/measured/pace.ts) use the same rule; tests/golden/units.json holds
both implementations to it.
"""

from __future__ import annotations

import math

from backend.schedule.simulation.simulate import Timeline

STEP_S = 5.0  # of one step: long enough to watch, short enough to wait for
LONGEST_S = 60.0  # of all steps together
WORK_MS = 3.0  # an op of the tiny model with its messages, and room for other work of the core
READABLE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)  # the figures of a unit, times a power of ten
SAME = 1e-9  # relative; below it a number counts as readable already


def mean_op(timeline: Timeline) -> float:
    """Return the mean duration of the ops that take time, in time units; 0 where none does."""
    lengths = timeline.end - timeline.start
    lengths = lengths[lengths > 0]
    return float(lengths.mean()) if len(lengths) else 0.0


def default_unit_ms(makespan: float, mean_op: float, ranks: int, cores: int, blocks: int = 1, steps: int = 1) -> float:
    """Return the milliseconds of a time unit such that a step of `makespan` units lasts about STEP_S seconds, as a
    readable number: longer where `ranks` that share `cores` would not get the work of an op of `mean_op` units done in
    time, shorter where all steps would last over LONGEST_S. `blocks` are the most of a stage. Both times must be above
    0.
    """
    wanted = _readable(1000 * STEP_S / makespan, 0)
    least = _readable(WORK_MS * max(1.0, ranks / cores) * blocks / mean_op, 1)
    most = _readable(1000 * LONGEST_S / (makespan * steps), -1)
    return min(max(wanted, least), most)


def _readable(value: float, direction: int) -> float:
    """Return the readable number nearest to `value` by ratio; for direction 1 the least from it on, for -1 the largest
    up to it."""
    power = math.floor(math.log10(value))
    near = [digits * 10.0**exponent for exponent in (power - 1, power, power + 1) for digits in READABLE]
    if direction > 0:
        near = [each for each in near if each >= value * (1 - SAME)]
    elif direction < 0:
        near = [each for each in near if each <= value * (1 + SAME)]
    best = min(near, key=lambda each: abs(math.log(each / value)))
    return float(f"{best:.2g}")
