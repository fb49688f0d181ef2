"""How long building an order takes, estimated before it is built: decides where that is done.

The figures are those of a machine with two cores, with compiled kernels, at 4,000 to 12,000 ops, where an op costs
most; `python bench/core.py` prints the present ones. What takes longer than estimated is moved to the slow workers.
"""

from __future__ import annotations

from backend.schedule.families import imported, registry
from backend.schedule.options.sizes import SEARCHED
from backend.schedule.spec import Spec

BASE_MS = 0.3
OP_US = 0.04  # of a fixed order
SLOWER_US = {"interleaved-bfs": 0.18, "dualpipe": 0.34, "dualpipev": 0.28}  # fixed orders built op by op
BLOCK_US = 4.0  # of an order repeated from a building block that is looked for
CONSTRUCTION_US = 20.0  # of an order constructed for its costs
TRIAL_US = 0.06  # of an op, each time that a search times an order
OPTION_US = 1.0  # of an op, for a sharded output layer or offload
IMPORTED_MS = 250.0  # to unpack and check the longest
ENTRY_MS = 700.0  # to search the order of entry
WORKER_MS = 5.0  # the least of what needs kernels, which only workers have compiled
BOUND_US = 1.0  # of an op
RESULT_US = 3.0  # of an op, for its times and its text


def order_ms(spec: Spec) -> float:
    """Estimate the milliseconds for the order of a legal spec. Does not unpack an imported one."""
    if spec.family == imported.NAME:
        return IMPORTED_MS
    family = registry.family_of(spec)
    ops = 3 * spec.p * spec.m * spec.v
    ms = BASE_MS + ops * SLOWER_US.get(spec.family, OP_US) / 1000
    if family.problem is not None:
        trials = (spec.effort or 0) * ops * TRIAL_US / 1000
        ms = WORKER_MS + ops * CONSTRUCTION_US / 1000 + trials
    elif family.shaped_by_costs:
        ms = WORKER_MS + ops * BLOCK_US / 1000
    if spec.injection == SEARCHED:
        ms += WORKER_MS + ENTRY_MS
    if spec.vocabulary != "plain" or spec.offload != "none":
        ms += WORKER_MS + ops * OPTION_US / 1000
    return ms


def bound_ms(spec: Spec) -> float:
    """Estimate the milliseconds for the lower bound of a searched family's spec."""
    return WORKER_MS + 3 * spec.p * spec.m * spec.v * BOUND_US / 1000


def result_ms(spec: Spec) -> float:
    """Estimate the milliseconds for a Result, which has the text and the times of every op."""
    return WORKER_MS + order_ms(spec) + 3 * spec.p * spec.m * spec.v * RESULT_US / 1000
