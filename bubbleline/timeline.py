"""A schedule that is live in a notebook: sliders, playback, and what is chosen there back in Python.

It needs anywidget: ``pip install 'bubbleline[notebook]'``. The script of the page is inside: no network, no server.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from backend.config import PROJECT

SCRIPT = PROJECT / "static" / "vendor" / "app" / "js" / "notebook.js"
CONTROLS = ("family", "p", "m", "v", "f", "i", "w", "comm", "play", "table")


def _value(kind: Any, rest: Any, help: str) -> Any:
    return kind(rest, allow_none=rest is None, help=help).tag(sync=True)


class Timeline(anywidget.AnyWidget):
    """The timeline of a schedule that is built without a search, with controls.

    Every trait can be set and observed, from Python and by hand in the drawing:

    - ``family``, ``p``, ``m``, ``v``, ``group``, ``lifo``: the schedule; None is the family's own value.
    - ``f``, ``i``, ``w``, ``hop``: times of a forward, an input gradient, a weight gradient and a hop (1, 1, 1, 0).
    - ``controls``: what a reader can use, of "family p m v f i w comm play table".
    - ``height``: of the drawing with its controls, in pixels.
    - ``theme``: "auto" (the notebook's), "light" or "dark".
    - ``selection``: None, or the op that was clicked last: ``{"op": "3F2" or None (idle time), "rank": 1, "at": 4.5}``.

    Values that cannot be are explained in the drawing; ``schedule`` raises for them.
    """

    _esm = SCRIPT

    family = _value(traitlets.Unicode, "1f1b", "name of the family")
    p = _value(traitlets.Int, 4, "devices")
    m = _value(traitlets.Int, 8, "micro-batches of a step")
    v = _value(traitlets.Int, None, "model chunks on a device")
    group = _value(traitlets.Int, None, "micro-batches in a group")
    lifo = _value(traitlets.Bool, False, "whether GPipe's backwards run from the last micro-batch")
    f = _value(traitlets.Float, None, "time of a forward")
    i = _value(traitlets.Float, None, "time of an input gradient")
    w = _value(traitlets.Float, None, "time of a weight gradient")
    hop = _value(traitlets.Float, None, "time of a hop between devices")
    controls = _value(traitlets.Unicode, "family p m v play", "what a reader can use")
    height = _value(traitlets.Int, 380, "height in pixels")
    theme = _value(traitlets.Unicode, "auto", "auto, light or dark")
    selection = _value(traitlets.Dict, None, "what was clicked last: op, rank, at")
