"""The verdict on a run: how its loss and gradients compare with those of the reference, and what is wrong.

Holds no tensors: the main process, which never loads torch, reads it too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from backend.errors import Message, message

# The largest relative error of the loss and of a parameter's gradient that is taken for rounding. A run and its
# reference round in the same places, to `dtype`, and add gradients up in float32; what differs is the order in which
# sums are made. float32: one rounding is 2**-24, and 1e-5 is 170 of them. bfloat16 keeps 8 bits, one rounding is up to
# 2**-8: the most that an order can do is to make roundings fall to the other side, which the layers pass on, mixed with
# others as independent, so that a few of them are left. Measured: mostly 0 to 1e-7, as run and reference use the same
# kernels; 1e-2 to 3e-2 where a sum over shards of a vocabulary let a rounding fall to the other side, as between
# bfloat16 and float32, where none is shared. 2**-5, 8 roundings, is the least power of two above.
# A micro-batch left out or taken twice is an error of about 1/m, in float32 above the tolerance for every m that a
# run can have. In bfloat16 it is not from m of some hundred on; contributions.py finds it there.
TOLERANCE = {"float32": 1e-5, "bfloat16": 2.0**-5}
LOSS = "loss "  # before the step and the number of a micro-batch, in the name of its loss: loss 1/3
UPDATED = "updated "  # before the names of weights that were compared
COUNT = "count "  # before a stage, a micro-batch and how often it is in the stage's gradients: count 1/7/0.00
OUTPUT = "output "  # before the number of a micro-batch, in the names of outputs of a forward-only run


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a run.

    `max_grad_error` is the largest relative error of a parameter's gradient (or of updated weights, of a forward-only
    run's outputs, of a micro-batch's loss that is wrong, or of how often one is in the gradients) and `worst` the name
    of that result, on `rank`; None if a result is `missing` or not finite, which `worst` then names. `rank` is None for
    a missing result, for one that several ranks have a part of, and for a count.
    """

    verified: bool
    loss: float
    reference_loss: float
    max_grad_error: float | None
    worst: str
    missing: bool = False
    rank: int | None = None

    @property
    def loss_error(self) -> float:
        """Return the relative error of the loss; NaN if either loss is not a number."""
        difference = abs(self.loss - self.reference_loss)
        if difference == 0 or not self.reference_loss:
            return math.inf if difference else 0.0
        return difference / abs(self.reference_loss)

    def loss_agrees(self, dtype: str) -> bool:
        """Return whether the loss is that of the reference, within the tolerance of `dtype`."""
        return self.loss_error <= TOLERANCE[dtype]


def reasons(verdict: Verdict, losses: Sequence[Sequence[float]], dtype: str) -> list[Message]:
    """Explain why a run is not verified: a sentence for each thing that is wrong, none for a verified run.

    `losses` are those of every micro-batch of every step; the first that is not a number explains everything.
    """
    if verdict.verified:
        return []
    for number, step in enumerate(losses, 1):
        for micro, loss in enumerate(step):
            if not math.isfinite(loss):
                return [
                    message(
                        "runner.loss_not_finite",
                        "Not verified: the loss of micro-batch {micro} in step {step} is {loss}.",
                        micro=micro,
                        step=f"{number}/{len(losses)}" if len(losses) > 1 else str(number),
                        loss=str(loss),
                    )
                ]
    if verdict.missing:
        return [message("runner.result_missing", "Not verified: {name} is missing.", name=_shown(verdict.worst))]
    wrong: list[Message] = []
    if verdict.max_grad_error is None:
        wrong.append(_not_finite(verdict.worst, verdict.rank))
    elif verdict.max_grad_error > TOLERANCE[dtype]:
        error, tolerance = f"{verdict.max_grad_error:.1e}", f"{TOLERANCE[dtype]:.1e}"
        wrong.append(_difference(verdict.worst, verdict.rank, error, tolerance))
    if not verdict.loss_agrees(dtype):
        wrong.append(
            message(
                "runner.loss_differs",
                "Not verified: the loss is {loss}, and {reference} in a single process, a relative error of {error}; "
                "the tolerance is {tolerance}.",
                loss=f"{verdict.loss:.7g}",
                reference=f"{verdict.reference_loss:.7g}",
                error=f"{verdict.loss_error:.1e}",
                tolerance=f"{TOLERANCE[dtype]:.1e}",
            )
        )
    return wrong


def _not_finite(name: str, rank: int | None) -> Message:
    """Return the sentence for a result that is not finite everywhere."""
    if rank is None:
        return message("runner.result_not_finite", "Not verified: not all of {name} is a number.", name=_shown(name))
    return message(
        "runner.result_of_rank_not_finite",
        "Not verified: not all of {name} on rank {rank} is a number.",
        name=_shown(name),
        rank=rank,
    )


def _shown(name: str) -> str:
    """Return the name of a result for people: of a parameter as it is."""
    if not name.startswith(OUTPUT):
        return name
    return message("runner.output", "the output of micro-batch {micro}", micro=name.removeprefix(OUTPUT))


def _difference(name: str, rank: int | None, error: str, tolerance: str) -> Message:
    """Return the sentence for a result whose relative error is above the tolerance."""
    if name.startswith(LOSS):
        step, micro = name.removeprefix(LOSS).split("/")
        return message(
            "runner.loss_of_micro_batch_differs",
            "Not verified: the loss of micro-batch {micro} in step {step} has a relative error of {error}; "
            "the tolerance is {tolerance}.",
            micro=micro,
            step=step,
            error=error,
            tolerance=tolerance,
        )
    if name.startswith(COUNT):
        stage, micro, times = name.removeprefix(COUNT).split("/")
        return message(
            "runner.micro_batch_count_differs",
            "Not verified: micro-batch {micro} is {times} times in the gradients of stage {stage}, not once.",
            micro=micro,
            times=times,
            stage=stage,
        )
    if name.startswith(OUTPUT):
        return message(
            "runner.output_differs",
            "Not verified: the output of micro-batch {micro} has a relative error of {error}; the tolerance is "
            "{tolerance}.",
            micro=name.removeprefix(OUTPUT),
            error=error,
            tolerance=tolerance,
        )
    if name.startswith(UPDATED):
        return message(
            "runner.weights_differ",
            "Not verified: the updated weights {name} have a relative error of {error}; the tolerance is {tolerance}.",
            name=name.removeprefix(UPDATED),
            error=error,
            tolerance=tolerance,
        )
    if rank is not None:
        return message(
            "runner.gradient_of_rank_differs",
            "Not verified: the gradient of {name} on rank {rank} has a relative error of {error}; the tolerance is "
            "{tolerance}.",
            name=name,
            rank=rank,
            error=error,
            tolerance=tolerance,
        )
    return message(
        "runner.gradient_differs",
        "Not verified: the gradient of {name} has a relative error of {error}; the tolerance is {tolerance}.",
        name=name,
        error=error,
        tolerance=tolerance,
    )
