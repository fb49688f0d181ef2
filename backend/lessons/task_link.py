"""The link from a lesson to a workbench task: its title, and its goals with the reference's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from backend.lessons.values import FORMATS, mistake
from backend.tasks.reference import Goal, reference
from backend.tasks.task import LANGUAGES, RECOGNISED, Task, tasks

AT_MOST: Mapping[str, Mapping[str, str]] = {
    "makespan": {"en": "a step of at most {}", "zh": "训练步至多 {}"},
    "bubble": {"en": "a bubble of at most {}", "zh": "气泡至多 {}"},
    "peak": {"en": "at most {} micro-batches held", "zh": "至多持有 {} 个微批次"},
    "messages": {"en": "at most {} messages", "zh": "至多 {} 条消息"},
    "simplicity": {"en": "a rule of at most {} symbols", "zh": "规则至多 {} 个符号"},
}
KNOWN = {"en": "it is {}", "zh": "它就是 {}"}
NEW = {"en": "it is none of the known orders", "zh": "它不是任何已知的执行顺序"}
BETWEEN = {"en": "; ", "zh": "；"}


@dataclass(frozen=True)
class TaskLink:
    """A task as a lesson shows it; ``title`` and ``goals`` by language.

    The goals are computed when the lesson is shown: a par that is searched takes up to a second the first time, which
    the list of lessons does without.
    """

    task: Task

    @property
    def number(self) -> int:
        """The task's number."""
        return self.task.number

    @property
    def title(self) -> Mapping[str, str]:
        """The task's title."""
        return self.task.title

    @property
    def goals(self) -> Mapping[str, str]:
        """The task's goals in words."""
        found = reference(self.task)
        titles = {each.named.name: each.named.title for each in found.named}
        return {
            language: BETWEEN[language].join(_words(goal, titles, language) for goal in found.goals)
            for language in LANGUAGES
        }


def task_link(slug: str) -> TaskLink:
    """Return the link to a task. Raises LessonError for an unknown one."""
    task = tasks().get(slug)
    if task is None:
        near = ", ".join(get_close_matches(slug, tasks(), 3)) or next(iter(tasks()))
        raise mistake(
            "lessons.no_task",
            "there is no task {slug}, but {near}; the command tasks list names them all",
            slug=slug,
            near=near,
        )
    return TaskLink(task)


def _words(goal: Goal, titles: Mapping[str, str], language: str) -> str:
    if goal.at_most is None:
        return KNOWN[language].format(titles[goal.names[0]]) if goal.metric == RECOGNISED else NEW[language]
    if goal.metric == "bubble":
        return AT_MOST["bubble"][language].format(FORMATS["percent"](goal.at_most))
    return AT_MOST[goal.metric][language].format(FORMATS["number"](goal.at_most))
