"""Activation recomputation: what is run again before the backward, and what is kept from the forward.

*full* (Chen et al. 2016, arXiv 1604.06174) keeps each layer's input only, 2sbh of 34sbh bytes, and runs the forward
again before I. *selective* (Korthikanti et al. 2022, arXiv 2205.05198) keeps all but the attention core, which is run
again; its two shares are the paper's for GPT-3 175B (a = 96, s = 2048, h = 12288). effective_costs.py adds the time of
what runs again.

What runs again needs the forward's input, not the gradient. *ahead* (Mario, Liu et al., PPoPP 2025) begins it before
the gradient arrives, so that it fills a wait; the op that uses it follows at once.

In the *bubble* (MindSpeed's ``--recompute-in-bubble`` for interleaved schedules) a rank recomputes only what keeps it
within p micro-batches' activations: where an op would exceed them, the forward runs again whose backward is furthest.
Once a rank has run its last forward it waits for gradients, and in front of each backward it runs one of these forwards
again if there is room; the others run again in front of their own backwards, as ahead.

*spared* micro-batches keep all: of as many forwards in a row as a rank holds chunks at most, the first few. That is
Megatron-LM's ``--num-microbatches-with-partial-activation-checkpoints``: a rank with fewer micro-batches in flight has
room for all that they keep.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.schedule.errors import message
from backend.schedule.options.per_chunk import Modes, values_of


@dataclass(frozen=True)
class Recompute:
    """``extra`` is the part of F that runs again with I; ``kept`` is the part of F's activations in memory until
    then.
    """

    extra: float
    kept: float


MODES = {
    "none": Recompute(0.0, 1.0),
    "selective": Recompute(4 * 2048 / (24 * 12288 + 4 * 2048), 34 / (34 + 5 * 96 * 2048 / 12288)),
    "full": Recompute(1.0, 2 / 34),
}
TIMES: dict[str, str] = {
    "backward": message("schedule.recompute_backward", "with the backward, once the gradient is there"),
    "ahead": message("schedule.recompute_ahead", "before the backward, while its rank waits for the gradient"),
    "bubble": message(
        "schedule.recompute_bubble", "only what exceeds p micro-batches, while its rank waits for any gradient"
    ),
}
KEPT = {name: mode.kept for name, mode in MODES.items()}


def kept(modes: Modes) -> float | tuple[float, ...]:
    """Return the part of a forward's activations in memory until its backward; of each chunk if they differ."""
    return values_of(modes, KEPT)
