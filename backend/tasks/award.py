"""What an order that solves a task has achieved, in a sentence and stars: for its card and the preview of its link."""

from __future__ import annotations

from backend.charts.previews.card import MOST_STARS, Award
from backend.tasks.grade import Graded
from backend.tasks.reference import Contender, Reference, is_at_most, reference
from backend.tasks.task import RECOGNISED, task_of


def award(graded: Graded, executed: bool) -> Award | None:
    """Return the award of a graded order; None where it does not solve its task. `executed`: a run has verified it.

    The page says the same (static/js/core/workbench/award.ts).
    """
    if not graded.solved:
        return None
    task = task_of(graded.task)
    claims = [_claim(graded, reference(task))]
    if graded.stars == MOST_STARS:
        claims.append("proved optimal")
    if executed:
        claims.append("executed")
    facts = f"step time {graded.score.makespan:g}, peak memory {graded.score.peak:g}"
    return Award(task.title["en"], tuple(claims), graded.stars, facts)


def _claim(graded: Graded, found: Reference) -> str:
    """Return the strongest of what can be said of a solution."""
    names = next((goal["as"] for goal in graded.goals if goal["metric"] == RECOGNISED), None)
    if names:
        return f"Built op by op: {_title(found, names[0])}"
    time, peak = graded.score.makespan, graded.score.peak
    beaten = [each for each in found.named if not is_at_most(each.score.makespan, time)]
    beaten.sort(key=lambda each: (each.named.name != "1f1b", each.score.makespan))
    fuller = [each for each in beaten if is_at_most(peak, each.score.peak)]
    if fuller:
        return f"{fuller[0].named.title} beaten within its own memory"
    if within := [each for each in beaten if each.within]:
        return f"{within[0].named.title} beaten"
    level = [each for each in found.named if is_at_most(time, each.score.makespan)]
    level = sorted((each for each in level if not is_at_most(each.score.peak, peak)), key=lambda each: each.score.peak)
    if level:
        return f"As short as {level[0].named.title}, with less memory"
    return f"A step of {time:g} with a peak memory of {peak:g}"


def _title(found: Reference, name: str) -> str:
    contender: Contender = next(each for each in found.named if each.named.name == name)
    return str(contender.named.title)
