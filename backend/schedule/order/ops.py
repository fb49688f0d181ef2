"""The kinds of op and their text, spelled as in torch.distributed.pipelining.

``F`` forward, ``I`` input gradient, ``W`` weight gradient, ``B`` full backward (I and W fused), and the overlapped
pair of one F and one B. The zero-bubble papers write B for our I; DeepSeek's B is the full backward, as here.
Text: ``{stage}{kind}{micro-batch}``, e.g. ``2F0``; a pair is ``(0F7;7B3)OVERLAP_F_B``.

Two more where the vocabulary is sharded over all ranks (vocabulary.py): ``S`` a rank's logits with their maximum and
sum, ``T`` their gradients. They belong to a rank, not to a stage; their text names the rank's first stage.
Two on a rank's copy lane (copy_lanes.py): ``O`` offloads a stage's activation to host memory, ``R`` reloads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from backend.schedule.errors import OrderError, message

F, I, W, B, PAIR, S, T = range(7)
KINDS = "FIWB"
LETTERS = "FIWB?ST"  # by kind; a pair has none
KIND_NAMES = (
    message("schedule.kind_f", "forward"),
    message("schedule.kind_i", "input gradient"),
    message("schedule.kind_w", "weight gradient"),
    message("schedule.kind_b", "full backward"),
    message("schedule.kind_pair", "overlapped forward and backward"),
    message("schedule.kind_s", "output layer's shard"),
    message("schedule.kind_t", "gradients of the output layer's shard"),
)

_SINGLE = re.compile(r"(\d{1,6})([FIWB])(\d{1,8})")
_PAIR = re.compile(r"\((\d{1,6})F(\d{1,8});(\d{1,6})B(\d{1,8})\)OVERLAP_F_B")


@dataclass(frozen=True, slots=True)
class Op:
    """One op: ``kind`` is a letter, ``stage`` the model part in model order, ``micro`` the micro-batch (numbered
    over all streams), ``chunk`` the model part's local number on its rank.
    """

    kind: str
    stage: int
    micro: int
    chunk: int = 0

    def text(self) -> str:
        return f"{self.stage}{self.kind}{self.micro}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A forward and a full backward that run at the same time on one device (DualPipe's F&B)."""

    forward: Op
    backward: Op

    def text(self) -> str:
        return f"({self.forward.text()};{self.backward.text()})OVERLAP_F_B"


def halves(op: Op | Pair) -> tuple[Op, ...]:
    """Return the single ops of an op: one, or a pair's two."""
    return (op.forward, op.backward) if isinstance(op, Pair) else (op,)


def parse(text: str) -> Op | Pair:
    """Read one op text. Raises OrderError, with the expected form, for any other text.

    ``chunk`` is 0: only a placement determines which chunk of its rank a stage is.
    """
    single = _SINGLE.fullmatch(text)
    if single:
        return Op(single[2], int(single[1]), int(single[3]))
    pair = _PAIR.fullmatch(text)
    if pair:
        return Pair(Op("F", int(pair[1]), int(pair[2])), Op("B", int(pair[3]), int(pair[4])))
    shown = text if len(text) <= 60 else text[:57] + "..."
    problem = message(
        "schedule.not_an_op",
        "{text} is not an op: expected one such as 2F0 (kinds F I W B) or (0F7;7B3)OVERLAP_F_B",
        text=repr(shown),
    )
    raise OrderError(problem)
