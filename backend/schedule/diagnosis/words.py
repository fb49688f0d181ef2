"""A diagnosis in lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from backend.schedule.diagnosis.diagnosis import Diagnosis
from backend.schedule.diagnosis.idle_causes import CAUSES, Idle
from backend.schedule.diagnosis.layers import MovedLayers

LEAST_SAVED = 0.0005  # a share that is shown as 0.0 %
LEAST_IDLE = 0.005  # of the step, on some rank


def lines_of(found: Diagnosis) -> Sequence[str]:
    """Return a diagnosis for the terminal: the verdict, the repairs, and each rank's time by cause."""
    shape = found.as_dict()
    measured, replay = shape["measured"], shape["replay"]
    known = shape["recognised"]
    name = known["title"] or "an order of its own"
    if known["family"] is None and known["nearest"]:
        near = known["nearest"]
        name += f", nearest {near['title']} ({near['share']:.0%}): rank {near['rank']} op {near['index']} is "
        name += f"{near['here'] or 'nothing'}, there {near['there'] or 'nothing'}"
    lines = [*(str(each) for each in shape["verdict"]), ""]
    lines.append(f"{shape['source']}: {name}, p {known['p']}, m {known['m']}, v {known['v']}")
    lines.append(
        f"{_counted(measured['steps'], 'step')} of {_counted(measured['replicas'], 'replica')}: "
        f"step {measured['step']:.4g} ms, bubble "
        f"{measured['bubble']:.1%}, tail {measured['tail']:.4g} ms; replayed op by op {replay['ratio']:.2%} of the "
        f"measured time ({replay['lowest']:.2%} to {replay['highest']:.2%})"
    )
    lines.append(
        f"slowdown {shape['slowdown']['slowdown']:.3f} against an ideal step of this schedule; repaired alone:"
    )
    lines += [
        f"  {CAUSE_TITLES[name]:28}{share:8.1%}"
        for name, share in sorted(shape["what_if"].items(), key=lambda each: -each[1])
        if abs(share) >= LEAST_SAVED
    ]
    if found.moved is not None:
        lines += ["", *_moved(found.moved)]
    lines += ["", "ms of each rank, by cause:", *_table(found.idle)]
    if measured["beside"]:
        lines += ["", "beside the ops, ms of a rank in a step:"]
        lines += [f"  {each['name']:28}{each['time']:8.3g}" for each in measured["beside"]]
    return lines + [f"note: {note}" for note in shape["notes"]]


CAUSE_TITLES = {
    "fill_and_drain": "fill and drain",
    "dependency": "dependency",
    "imbalance": "uneven stages",
    "worker": "slow workers",
    "micro_batches": "micro-batches that differ",
    "jitter": "jitter",
    "transfer": "messages",
    "link": "slow links",
    "head_of_line": "messages behind others",
    "overhead": "launch overhead",
    "pause": "pauses",
    "replicas": "waiting for replicas",
    "tail": "tail of the step",
    "unexplained": "unexplained",
    "all": "all together",
}


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def _moved(moved: MovedLayers) -> list[str]:
    before, after = (",".join(map(str, each)) for each in (moved.before, moved.after))
    if moved.saves <= 0.0:
        return [f"layers {before}: no other split is found that is faster"]
    lines = [f"layers {after} in place of {before} save {moved.saves:.1%} of the step; memory is not looked at"]
    return lines + ([] if moved.layout is None else [f"  --pipeline-model-parallel-layout '{moved.layout}'"])


def _table(idle: Idle) -> list[str]:
    rows = idle.as_dict()
    shown = [each for each in ("work", *CAUSES) if any(abs(row[each]) >= LEAST_IDLE * idle.step for row in rows)]
    width = max(len(CAUSE_TITLES.get(each, each)) for each in shown)
    return [
        f"  {CAUSE_TITLES.get(each, each):{width}}" + "".join(f"{round(row[each], 3):10.4g}" for row in rows)
        for each in shown
    ]
