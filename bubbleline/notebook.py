"""A schedule that is live in a notebook: sliders, playback, and what is chosen there back in Python.

It needs anywidget, which works in Jupyter, VS Code, Colab and marimo. The script of the page is inside: no network, no
server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from backend.config import PROJECT
from backend.schedule.errors import SpecError, message
from backend.schedule.families import imported, registry
from backend.schedule.spec import Spec, choice
from bubbleline.schedules import Schedule
from bubbleline.schedules import schedule as schedule_of
from bubbleline.settings import Costs

SCRIPT = PROJECT / "static" / "vendor" / "app" / "js" / "notebook.js"
THEMES = ("auto", "light", "dark")
COSTS = {"f": "f", "i": "i", "w": "w", "hop": "comm"}  # a widget has another use for the name comm


def _synced(kind: Any, value: Any, help: str) -> Any:
    return kind(default_value=value, allow_none=value is None, help=help).tag(sync=True)


class Timeline(anywidget.AnyWidget):
    """The timeline of a schedule with controls, for the families that are built without a search.

    Attributes:
        family, p, m, v, group, lifo: The schedule; None is the family's own value. These and the costs can be set and
            observed from Python, and follow the controls.
        f, i, w, hop: Times of a forward, an input gradient, a weight gradient and a hop; None is 1, of a hop 0.
        controls: What a reader can use, of "family p m v f i w comm play table".
        height: Of the drawing with its controls, in pixels.
        theme: "auto" (the notebook's), "light" or "dark".
        selection: None, or what was clicked last: ``op`` as text, None for idle time, its ``rank``, and a time in it,
            ``at``, for ``why_idle``.

    Examples:
        >>> import bubbleline as bl
        >>> live = bl.Timeline("zb-h1", p=4, m=8)
        >>> live.p = 8
        >>> live.schedule
        <Schedule zb-h1 p=8 m=8 v=1>
        >>> live.selection is None
        True
    """

    _esm = SCRIPT

    family = _synced(traitlets.Unicode, "1f1b", "name of the family")
    p = _synced(traitlets.Int, 4, "devices")
    m = _synced(traitlets.Int, 8, "micro-batches of a step")
    v = _synced(traitlets.Int, None, "model chunks per device")
    group = _synced(traitlets.Int, None, "micro-batches in a group, of interleaved families")
    lifo = _synced(traitlets.Bool, False, "whether GPipe's backwards run from the last micro-batch")
    f = _synced(traitlets.Float, None, "time of a forward")
    i = _synced(traitlets.Float, None, "time of an input gradient")
    w = _synced(traitlets.Float, None, "time of a weight gradient")
    hop = _synced(traitlets.Float, None, "time of a hop between devices")
    controls = _synced(traitlets.Unicode, "family p m v play", "what a reader can use")
    height = _synced(traitlets.Int, 380, "height in pixels")
    theme = _synced(traitlets.Unicode, "auto", "auto, light or dark")
    selection = _synced(traitlets.Dict, None, "what was clicked last")

    def __init__(
        self,
        shown: Schedule | str = "1f1b",
        *,
        p: int | None = None,
        m: int | None = None,
        v: int | None = None,
        costs: Costs | Mapping[str, Any] | None = None,
        controls: str = "family p m v play",
        height: int = 380,
        theme: str = "auto",
        **options: Any,
    ) -> None:
        """Show a schedule, or one that ``schedule`` makes of the same arguments.

        Raises:
            SpecError: A value is illegal, or what only a picture shows: ``schedule(...)`` in a cell draws it.
        """
        choice("theme", theme, THEMES)
        plan = shown if isinstance(shown, Schedule) else schedule_of(shown, p=p, m=m, v=v, costs=costs, **options)
        traits = _traits(plan.spec)
        super().__init__(**traits, controls=controls, height=height, theme=theme)

    @property
    def schedule(self) -> Schedule:
        """What is shown now. Raises SpecError where it cannot be, as the drawing says too."""
        return schedule_of(**_words({name: getattr(self, name) for name in _NAMES}))


_NAMES = ("family", "p", "m", "v", "group", "lifo", *COSTS)


def _words(traits: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``schedule`` for the traits of a timeline; those without a value are left out."""
    given = {name: value for name, value in traits.items() if value is not None and value is not False}
    costs = {word: given.pop(name) for name, word in COSTS.items() if name in given}
    return given | {"costs": costs}


def _traits(spec: Spec) -> dict[str, Any]:
    """Return the traits that show a spec. Raises SpecError for one that they cannot say, with its first field."""
    family = registry.family_of(spec)
    costs = {name: getattr(spec.costs, letter) for name, letter in zip(COSTS, ("F", "I", "W", "comm"), strict=True)}
    traits = {name: getattr(spec, name) for name in ("family", "p", "m", "v", "group", "lifo")}
    plain = {name: value for name, value in costs.items() if isinstance(value, int | float)}
    again = None
    if family.problem is None and spec.family != imported.NAME:
        again = schedule_of(**_words(traits | plain)).spec
    if again == spec:
        return traits | plain
    field = next(name for name in type(spec).__dataclass_fields__ if getattr(again, name, None) != getattr(spec, name))
    text = message(
        "schedule.not_live",
        "a live timeline has plain costs and no options of {family} but group and lifo; show the schedule itself",
        family=family.title,
    )
    raise SpecError(field if again else "family", getattr(spec, field if again else "family"), text)
