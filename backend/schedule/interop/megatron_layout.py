"""Read and write Megatron-LM's layout of layers, as in ``--pipeline-model-parallel-layout "Et*3|(tt|)*29,m|L"``.

``|`` ends a stage; ``E`` is the embedding, ``t`` a transformer layer, ``m`` a module that predicts a further token,
and ``L`` the output layer with the loss. ``t*3`` is three of them, ``(tt|)*29`` repeats all in the brackets, and commas
mean nothing. As there (megatron/core/transformer/pipeline_parallel_layer_layout.py) the embedding is first and the loss
last, all further tokens are in one stage behind the layers, and stages may be empty. The page reads the same
(static/js/core/state/megatron_layout.ts).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.spec import LIMITS, MOST_LAYERS

SIGNS = "ELtm|"
EXAMPLE = "Et*3|(tt|)*29,m|L"
MOST = LIMITS["p"] * LIMITS["v"] + MOST_LAYERS  # signs of a layout, written out
_TOKEN = re.compile(r"(?P<sign>.)(?:\*(?P<times>[0-9]{1,9}))?", re.DOTALL)


@dataclass(frozen=True)
class StageLayout:
    """The transformer layers and the modules for further tokens of each stage."""

    layers: tuple[int, ...]
    further: tuple[int, ...]

    @property
    def mtp(self) -> int:
        """Return the number of modules for further tokens."""
        return sum(self.further)

    @property
    def mtp_stage(self) -> int | None:
        """Return the stage of the modules for further tokens; None if there are none, or they are in the last one."""
        stage = next((at for at, count in enumerate(self.further) if count), None)
        return None if stage == len(self.further) - 1 else stage

    @property
    def counts(self) -> tuple[int, ...]:
        """Return the layers of each stage where a module for further tokens counts as one, as without a model."""
        return tuple(map(sum, zip(self.layers, self.further, strict=True)))


def with_layout(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a model on a machine with those that a layout in ``layers`` stands for. Raises SpecError for
    another number of modules for further tokens.
    """
    layout = fields.get("layers")
    if isinstance(layout, str) and is_layout(layout):
        layout = read_layout(layout)
    if not isinstance(layout, StageLayout):
        return dict(fields)
    if fields.get("mtp", layout.mtp) != layout.mtp:
        text = message("layout.other_mtp", "the layout has {mtp} m; leave mtp out", mtp=layout.mtp)
        raise SpecError("mtp", fields["mtp"], text, nearest=layout.mtp)
    more = {"mtp": layout.mtp or None, "mtp_stage": layout.mtp_stage}
    return {**fields, "layers": list(layout.layers), **{key: value for key, value in more.items() if value is not None}}


def is_layout(text: str) -> bool:
    """Return whether a text is a layout, right or wrong, and no list of numbers."""
    return any(sign in text for sign in SIGNS)


def read_layout(text: str) -> StageLayout:
    """Read a layout. Raises SpecError of the field ``layers`` naming the position, from 1, and what is possible."""
    signs = _written_out(text)
    stages: list[list[str]] = [[]]
    behind = ""  # the last sign of a layer
    modules: set[int] = set()
    for at, sign in signs:
        if sign == "|":
            stages.append([])
            continue
        if behind == "L":
            raise _wrong(text, at, message("layout.behind_loss", "nothing comes behind L, the output layer"))
        if (sign == "E") != (behind == "") or (sign == "E" and len(stages) > 1):
            raise _wrong(text, at, message("layout.embedding_first", "E, the embedding, comes first and once"))
        if sign == "t" and behind == "m":
            raise _wrong(text, at, message("layout.layers_first", "layers, t, come before all m"))
        if sign == "m":
            modules.add(len(stages))
        if len(modules) > 1:
            raise _wrong(text, at, message("layout.one_stage", "all m are in one stage"))
        stages[-1].append(sign)
        behind = sign
    if behind != "L" or "L" not in stages[-1]:
        raise _wrong(text, len(text), message("layout.loss_last", "L, the output layer, ends the last stage"))
    layers = tuple(stage.count("t") for stage in stages)
    if not any(layers):
        raise _wrong(text, len(text), message("layout.no_layers", "there is no layer, t"))
    return StageLayout(layers, tuple(stage.count("m") for stage in stages))


def write_layout(layout: StageLayout) -> str:
    """Return the text of a layout, equal stages in a row in brackets: ``Et*3|(tt|)*29,m|L``."""
    last = len(layout.layers) - 1
    parts = []
    for stage, (count, further) in enumerate(zip(layout.layers, layout.further, strict=True)):
        ends = ("E" if stage == 0 else "", "L" if stage == last else "|")
        parts.append(ends[0] + _times("t", count) + _times("m", further) + ends[1])
    out: list[str] = []
    for part, group in groupby(parts):
        times = len(list(group))
        out.append(part if times == 1 else f"({part})*{times},")
    return "".join(out).rstrip(",")


def _times(sign: str, count: int) -> str:
    """Return a sign so many times."""
    return sign * count if count < 3 else f"{sign}*{count}"


def _written_out(text: str) -> list[tuple[int, str]]:
    """Return (position from 1, sign) of every sign with repetitions written out, without commas."""
    out: list[tuple[int, str]] = []
    opened: int | None = None  # where the present brackets begin in ``out``
    for found in _TOKEN.finditer(text):
        at, sign, times = found.start() + 1, found["sign"], found["times"]
        if sign == "(" and opened is None and times is None:
            opened = len(out)
            continue
        if sign == ")" and opened is not None and times is not None:
            part, opened = out[opened:], None
        elif sign in f"{SIGNS},":
            part = [(at, sign)]
            out += part
        else:
            why = message("layout.signs", "the signs are E, t, m, L and |, as often as n by *n or (...)*n")
            raise _wrong(text, at, why)
        count = int(times or 1)
        if not 1 <= count <= MOST or len(out) + (count - 1) * len(part) > MOST:
            why = message("layout.too_many", "a sign is there 1 to {most} times in all", most=f"{MOST:,}")
            raise _wrong(text, found.end(), why)
        out += part * (count - 1)
    if opened is not None:
        raise _wrong(text, len(text), message("layout.not_closed", "brackets end with ) and a number: (tt|)*29"))
    return [(at, sign) for at, sign in out if sign != ","]


def _wrong(text: str, at: int, why: Message) -> SpecError:
    sign = text[at - 1 : at]
    told = message(
        "layout.wrong_at",
        "the layout is wrong at position {at} ({sign}): {why}; an example is {example}",
        at=at,
        sign=sign,
        why=why,
        example=EXAMPLE,
    )
    return SpecError("layers", text[:80], told)
