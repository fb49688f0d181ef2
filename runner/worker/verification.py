"""Verify a run: train the reference in this process and compare every result of every rank with it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from runner.messages import Verify, results_file
from runner.model.contributions import Contributions
from runner.model.reference import evaluate, mean, no_beat, no_record, train, train_stale
from runner.model.verdict import COUNT, LOSS, TOLERANCE, Verdict

# The largest product of m and the tolerance at which one micro-batch, about 1/m of a gradient, is clearly beyond the
# tolerance. Then none is counted: few others do not tell what is chance in the direction of one.
FOUND_BY_NORM = 0.5
SHARD = "shard"  # in place of a chunk, before the names of results that are a rank's rows of a whole


def verify(command: Verify, beat: Callable[[], None] = no_beat) -> Verdict:
    """Train the reference, or run it forward, and compare the results of all ranks, which are in files of the job's
    folder. `beat` is called after each micro-batch."""
    device = torch.device(command.device)
    replicas: list[Mapping[str, Tensor]] = []
    shards: dict[str, list[Tensor]] = defaultdict(list)
    ranks: list[int] = []
    for rank in range(command.ranks):
        results = torch.load(results_file(command.folder, rank), weights_only=True)
        for place, name, result in ((*key.split("/", 1), result) for key, result in results.items()):
            if place == SHARD:
                shards[name].append(result)
            else:
                replicas.append({name: result})
                ranks.append(rank)
    replicas += [{name: torch.cat(rows)} for name, rows in shards.items()]
    training = replace(command.training, sharded=False)
    contributions = Contributions(training.micros)
    counts = training.micros * TOLERANCE[training.dtype] > FOUND_BY_NORM
    record = contributions.record if counts else no_record
    if training.forward_only:
        losses, reference = evaluate(training, device, beat)
        expected = [losses]
    elif command.used is None:
        expected, reference = train(training, device, beat, record)
    else:
        losses, reference = train_stale(training, command.used, device, beat, record)
        expected = [losses]
    found = torch.tensor(command.losses, dtype=torch.float64).view(len(expected), -1)
    wrong = wrong_loss(found, torch.tensor(expected, dtype=torch.float64), training.dtype)
    if wrong is not None:
        step, micro = wrong
        name = f"{LOSS}{step + 1}/{micro}"
        reference[name] = torch.tensor(expected[step][micro], dtype=torch.float64)
        replicas.append({name: found[step, micro]})
    verdict = compare(float(found[-1].mean()), replicas, mean(expected[-1]), reference, training.dtype, ranks, device)
    return counted(verdict, contributions, replicas) if verdict.verified else verdict


def counted(verdict: Verdict, contributions: Contributions, replicas: Sequence[Mapping[str, Tensor]]) -> Verdict:
    """Check a run within the tolerance further: not verified unless each micro-batch is in its gradients once. Of many
    micro-batches in bfloat16, one may weigh less than their roundings. Replicas of a stage have the same sum, so one of
    them is checked.
    """
    found = contributions.wrong({name: result for results in replicas for name, result in results.items()})
    if found is None:
        return verdict
    times = round(found.times, 2) + 0.0  # no minus before 0.00
    name = f"{COUNT}{found.stage}/{found.micro}/{times:.2f}"
    return replace(verdict, verified=False, max_grad_error=abs(found.times - 1.0), worst=name, rank=None)


def wrong_loss(found: Tensor, expected: Tensor, dtype: str) -> tuple[int, int] | None:
    """Return the step and the micro-batch whose loss, of all (steps, micro-batches), is furthest from the reference's;
    None if it is within the tolerance. The mean of a step hides what one of many micro-batches has wrong.
    """
    errors = ((found - expected).abs() / expected.abs()).nan_to_num(math.inf)
    errors[found == expected] = 0.0
    worst = int(errors.argmax())
    return divmod(worst, errors.shape[1]) if float(errors.flatten()[worst]) > TOLERANCE[dtype] else None


def compare(
    loss: float,
    replicas: Sequence[Mapping[str, Tensor]],
    reference_loss: float,
    reference: Mapping[str, Tensor],
    dtype: str = "float32",
    ranks: Sequence[int] = (),
    device: torch.device | None = None,
) -> Verdict:
    """Compare results with their reference by name, each of the same shape as there; replicas of a parameter are in
    different dictionaries, so that they are compared one by one, on `device` (None: where they are). `ranks` are those
    of the first dictionaries; no single rank has the results in the others."""
    worst, largest, at = "", -1.0, -1
    for number, results in enumerate(replicas):
        for name, result in results.items():
            error = relative_error(result.to(device), reference[name].to(device))
            if error > largest:
                worst, largest, at = name, error, number
    missing = reference.keys() - {name for results in replicas for name in results}
    if missing:
        return Verdict(False, loss, reference_loss, None, min(missing), missing=True)
    rank = ranks[at] if 0 <= at < len(ranks) else None
    verdict = Verdict(False, loss, reference_loss, largest if largest < math.inf else None, worst, rank=rank)
    return replace(verdict, verified=verdict.loss_agrees(dtype) and largest <= TOLERANCE[dtype])


def relative_error(result: Tensor, reference: Tensor) -> float:
    """Return |result - reference| / |reference|, both norms over the whole tensor, in float64; infinity for NaN."""
    if result.shape != reference.shape:
        return math.inf
    difference = float(torch.linalg.vector_norm(result.double() - reference.double()))
    norm = float(torch.linalg.vector_norm(reference.double()))
    error = difference / norm if norm > 0 else (math.inf if difference > 0 else 0.0)
    return error if math.isfinite(error) else math.inf
