"""The causes that a measured step shows, each with its place and what its repair saves, and the sentences that lead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.idle_causes import Idle
from backend.schedule.diagnosis.step_model import StepModel, stage_work
from backend.schedule.diagnosis.what_if import Steps
from backend.schedule.errors import Message, message
from backend.schedule.interop.traces.recording import Recording
from backend.schedule.order.op_columns import op_columns

Floats = npt.NDArray[np.float64]
LEAST = 0.02  # of a step: what saves less is not found
LEAST_ALONE = 0.03  # of the repaired step, where other causes hide it
FOLLOWS = 0.8


@dataclass(frozen=True)
class Finding:
    """A cause that is there: ``saves`` the share of the step that its repair saves alone, ``costs`` by which share it
    alone makes the ideal step longer, ``place`` where it is (stage, rank, replica, step, micro, op), ``text`` what was
    measured there.
    """

    cause: str
    saves: float
    costs: float
    text: Message
    repair: Message
    place: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "cause": self.cause,
            "saves": self.saves,
            "costs": self.costs,
            "place": self.place,
            "text": self.text,
            "repair": self.repair,
        }


def findings(
    steps: Steps, saved: dict[str, float], alone: dict[str, float], recording: Recording
) -> tuple[Finding, ...]:
    """Return what is found, that which saves most first; ``alone`` is what each cause costs without the others."""
    model = steps.model
    found = []
    for cause, describe in _DESCRIBE.items():
        if saved[cause] >= LEAST or alone[cause] >= LEAST_ALONE:
            text, repair, place = describe(model)
            found.append(Finding(cause, saved[cause], alone[cause], text, repair, place))
    if saved["replicas"] >= LEAST:
        found.append(_replicas(saved["replicas"], model))
    if saved["tail"] >= LEAST:
        found.append(_tail(saved["tail"], steps, recording))
    # replicas wait because of what makes them differ, which leads where it saves about as much
    return tuple(sorted(found, key=lambda each: -each.saves * (FOLLOWS if each.cause == "replicas" else 1.0)))


def verdict(found: Sequence[Finding], steps: Steps, idle: Idle) -> list[Message]:
    """Return the sentences that lead: what costs most, what its repair saves, and what another schedule could."""
    schedule = max(0.0, 1.0 - float(idle.work.max() + steps.tail) / idle.step)
    own = float(np.mean(idle.parts["fill_and_drain"] + idle.parts["dependency"])) / idle.step
    at_most = message(
        "schedule.verdict_schedule", "Another schedule saves at most {share} of the step.", share=_percent(schedule)
    )
    if not found:
        calm = message(
            "schedule.verdict_nothing",
            "Nothing but the schedule costs more than {least} of the step: its own idle time is {own}.",
            least=_percent(LEAST),
            own=_percent(own),
        )
        return [calm, at_most]
    first = found[0]
    return [first.text, message("schedule.verdict_saves", "{repair} saves {share} of the step.", repair=first.repair,
                                share=_percent(first.saves)), at_most]  # fmt: skip


Described = tuple[Message, Message, dict[str, Any]]


def _imbalance(model: StepModel) -> Described:
    order = model.of.order
    rank, _, _, chunk, *_ = op_columns(order)
    stage = order.placement.stage_of[rank, chunk]
    work = stage_work(model.of, model.stage) / order.m
    slow, last = int(work.argmax()), order.placement.stages - 1
    ratio = float(work[slow] / np.median(np.delete(work, slow))) if len(work) > 1 else 1.0
    words = {"stage": slow, "ratio": f"{ratio:.2g}"}
    text = message("schedule.found_imbalance", "Stage {stage} takes {ratio} times the others.", **words)
    if slow == last:
        text = message(
            "schedule.found_imbalance_last",
            "Stage {stage}, which has the output layer, takes {ratio} times the others.",
            **words,
        )
    elif len(set(model.of.replicas.tolist())) == 1 and order.chunks == 1:
        text = message(
            "schedule.found_imbalance_or_worker",
            "Stage {stage} takes {ratio} times the others: its layers are heavier, or its device is slower; a second "
            "replica would tell.",
            **words,
        )
    repair = message("schedule.repair_imbalance", "Balancing the stages")
    return text, repair, {"stage": slow, "rank": int(rank[stage == slow][0]), "ratio": ratio}


def _most(model: StepModel, values: Floats) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Return the index of the largest of the values (I, N, ...), and its place: op, rank, step and replica."""
    index = tuple(int(each) for each in np.unravel_index(int(values.argmax()), values.shape))
    at, op = index[:2]
    rank = int(model.rank[op])
    order, (step, replica) = model.of.order, model.of.places[at]
    name = order.row(rank)[op - int(order.offsets[rank])].text()
    return index, {"op": name, "rank": rank, "step": step, "replica": replica}


def _worker(model: StepModel) -> Described:
    index, place = _most(model, model.worker)
    ratio = float(model.worker[index])
    words = {"rank": place["rank"], "replica": place["replica"], "ratio": f"{ratio:.2g}"}
    repair = message("schedule.repair_worker", "Replacing or relieving it")
    if len(set(model.of.replicas.tolist())) == 1:
        del words["replica"]
        text = message(
            "schedule.found_worker_rank",
            "Rank {rank} takes {ratio} times as long as the others in each of its stages.",
            **words,
        )
        return text, repair, {"rank": place["rank"], "ratio": ratio}
    text = message(
        "schedule.found_worker",
        "Rank {rank} of replica {replica} takes {ratio} times as long as that rank elsewhere.",
        **words,
    )
    return text, repair, {"rank": place["rank"], "replica": place["replica"], "ratio": ratio}


def _micro_batches(model: StepModel) -> Described:
    index, place = _most(model, model.micro)
    ratio, micro = float(model.micro[index]), int(op_columns(model.of.order).micro[index[1]])
    text = message(
        "schedule.found_micro_batches",
        "Micro-batches differ: the largest, {micro} in step {step}, takes {ratio} times the mean.",
        micro=micro,
        step=place["step"],
        ratio=f"{ratio:.2g}",
    )
    repair = message("schedule.repair_micro_batches", "Making them alike")
    return text, repair, {"micro": micro, "step": place["step"], "replica": place["replica"], "ratio": ratio}


def _jitter(model: StepModel) -> Described:
    index, place = _most(model, model.jitter)
    over = float(model.jitter[index])
    text = message(
        "schedule.found_jitter",
        "Ops of one kind vary from time to time, {op} in step {step} most: it takes {over} ms more than usual.",
        op=place["op"],
        step=place["step"],
        over=f"{over:.3g}",
    )
    return text, message("schedule.repair_jitter", "Making them last alike"), place | {"over": over}


def _transfer(model: StepModel) -> Described:
    usual = float(np.median(model.of.spent))
    text = message(
        "schedule.found_transfer",
        "A message takes {hop} ms, {share} of a usual op, and ranks wait for it.",
        hop=f"{model.hop:.3g}",
        share=_percent(model.hop / usual if usual > 0.0 else 0.0),
    )
    return text, message("schedule.repair_transfer", "Hiding the messages"), {"hop": model.hop}


def _link(model: StepModel) -> Described:
    source, target = (int(each) for each in np.unravel_index(int(model.link.argmax()), model.link.shape))
    text = message(
        "schedule.found_link",
        "The link from rank {source} to rank {target} takes {time} ms for a message, the others {hop}.",
        source=source,
        target=target,
        time=f"{model.link[source, target]:.3g}",
        hop=f"{model.hop:.3g}",
    )
    place = {"source": source, "target": target, "time": float(model.link[source, target])}
    return text, message("schedule.repair_link", "Making it as quick as the others"), place


def _overhead(model: StepModel) -> Described:
    usual = float(np.median(model.overhead))
    text = message(
        "schedule.found_overhead",
        "Before every op a rank spends {time} ms in which it could compute.",
        time=f"{max(usual, float(model.overhead.mean())):.3g}",
    )
    repair = message("schedule.repair_overhead", "Launching ops without it")
    return text, repair, {"time": float(model.overhead.mean()), "rank": int(model.rank[int(model.overhead.argmax())])}


def _pause(model: StepModel) -> Described:
    index, place = _most(model, model.pause)
    time = float(model.pause[index])
    text = message(
        "schedule.found_pause",
        "Rank {rank} pauses for {time} ms before {op} in step {step}, as for garbage collection.",
        rank=place["rank"],
        time=f"{time:.3g}",
        op=place["op"],
        step=place["step"],
    )
    return text, message("schedule.repair_pause", "Avoiding its pauses"), place | {"time": time}


def _head_of_line(model: StepModel) -> Described:
    of, blocking = model.of, model.blocking
    assert blocking is not None
    made = np.where(of.made_by >= 0, of.end[:, of.made_by], -np.inf)
    free = np.concatenate((of.end[:, :1], of.end[:, :-1]), axis=1)[:, :, None]
    front = blocking.behind(of.order)
    waits = np.where(front >= 0, np.minimum(blocking.held(of.order, made), of.start[:, :, None] - free), 0.0)
    index, place = _most(model, waits)
    messages, behind, time = blocking.messages, int(front[index[1:]]), float(waits[index])
    text = message(
        "schedule.found_head_of_line",
        "Messages hold up others: {op} waits {time} ms more for one that stands behind {behind} on rank {rank}.",
        op=place["op"],
        time=f"{time:.3g}",
        behind=messages.text(behind, of.order.placement),
        rank=int(messages.rank[behind]),
    )
    place |= {"time": time, "streams": messages.streams, "receives": blocking.receives}
    repair = message("schedule.repair_head_of_line", "Posting receives in the order in which messages are ready")
    return text, repair, place


_DESCRIBE: dict[str, Callable[[StepModel], Described]] = {
    "imbalance": _imbalance,
    "worker": _worker,
    "micro_batches": _micro_batches,
    "jitter": _jitter,
    "transfer": _transfer,
    "link": _link,
    "head_of_line": _head_of_line,
    "overhead": _overhead,
    "pause": _pause,
}


def _replicas(saves: float, model: StepModel) -> Finding:
    spans = model.makespan()
    at = int(spans.argmax())
    step, replica = model.of.places[at]
    text = message(
        "schedule.found_replicas",
        "Replicas wait for the slowest: in step {step} replica {replica} takes {ratio} times the mean.",
        step=step,
        replica=replica,
        ratio=f"{spans[at] / spans[model.of.steps == step].mean():.2g}",
    )
    repair = message("schedule.repair_replicas", "Making replicas alike")
    return Finding("replicas", saves, saves, text, repair, {"step": step, "replica": replica})


def _tail(saves: float, steps: Steps, recording: Recording) -> Finding:
    longest: dict[str, list[float]] = {}
    for each in recording.beside:
        longest.setdefault(each.name, []).append(each.end - each.start)
    name = max(longest, key=lambda each: float(np.median(longest[each])), default="")
    words = {"time": f"{steps.tail:.3g}", "share": _percent(saves)}
    text = message("schedule.found_tail", "Before its first op and after its last a step spends {time} ms.", **words)
    if name:
        text = message(
            "schedule.found_tail_of",
            "Before its first op and after its last a step spends {time} ms, longest in {name}.",
            name=name,
            **words,
        )
    return Finding(
        "tail", saves, saves, text, message("schedule.repair_tail", "Hiding all of it"), {"time": steps.tail}
    )


def _percent(share: float) -> str:
    """Return a share in whole percents, in words of a sentence."""
    return f"{round(100.0 * share) + 0.0:.0f} %"  # "0 %" also of a little less than nothing
