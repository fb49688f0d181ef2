"""A spec: a family, its sizes, its costs and its options. Read strictly from JSON.

Each field is checked by itself (type and range); ``families.registry.validate`` checks whether a family takes these
fields together. Every error names the field and the nearest legal value.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.options.effective_costs import Options, fewer_on_the_last, timing
from backend.schedule.options.family_names import canonical
from backend.schedule.options.offload import HALF
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.offload import OF_A_CHUNK as OFFLOAD_OF_A_CHUNK
from backend.schedule.options.per_chunk import Modes, in_one_word
from backend.schedule.options.recompute import MODES, TIMES, kept
from backend.schedule.options.sizes import (
    DEALS,
    INJECTIONS,
    MOST_REPLICAS,
    MOST_SIZE,
    Injection,
    Sizes,
    dealt,
    entering,
    read_rule,
)
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.messages import RECEIVES, STREAMS
from backend.schedule.order.order import Codes
from backend.schedule.order.order_codec import custom_stages
from backend.schedule.simulation.costs import Cost, Costs, SizedCosts

# Sizes that keep one answer under a few seconds and 400 MB; the page's sliders have lower limits. ``ops`` are those of
# an order, ``placed_ops`` of one whose ops are placed one by one (Family.most_ops).
LIMITS = {"p": 1024, "m": 65536, "v": 64, "ops": 16_777_216, "placed_ops": 4_194_304}
MOST_LAYERS = 10_000  # most layers of one stage
MOST_EFFORT, MOST_SEED, MOST_SPARED = 10**9, 2**31 - 1, 10**6
MOST_ORDER = 6000  # most characters of a packed order: a server reads addresses of up to 8192
MAX_TIME = 1e9  # sums of a million ops stay exact to a nanounit in float64
PACKED = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
COST_KEYS = ("F", "I", "W", "comm", "FB", "S", "T", "O", "R", "wire")


T = TypeVar("T")


@dataclass(frozen=True)
class Spec:
    """The specification of one schedule.

    ``p`` devices, ``m`` micro-batches per step, ``v`` model chunks per device; ``group``: the micro-batches that an
    interleaved schedule takes together (None: torch's rule); ``memory``: a limit in micro-batches' activations on
    one device; ``w_share``: the part of them that W still needs after I; ``lifo``: GPipe's backward from the last
    micro-batch to the first; ``forward_only``: inference, no backwards (families/forward_only.py); ``frozen``: the
    stages that are not trained, in rising order (options/frozen.py); ``recompute``: what runs again before the
    backward, ``recompute_at`` when, and how much of it, and ``spared`` how many of the chunks that a rank
    holds at once run nothing again (recompute.py); ``layers`` of each stage (None: equal); ``sizes`` of the
    micro-batches where they differ, a list or a rule, ``fixed`` the share of an op that does not depend on them,
    and ``injection`` the order in which they enter (options/sizes.py), with those of ``replicas`` that wait for
    each other, as ``deal`` deals them, of which ``replica`` is shown; ``vocabulary``: where the output layer is
    (vocabulary.py); ``offload``: which activations go to host memory (offload.py), both of all chunks or of each
    chunk of a device (per_chunk.py); ``shared_link``: whether two devices share one connection to host memory;
    ``streams``: which messages of a rank share a stream, and ``receives``: where they are posted
    (order/messages.py); ``weights``: the memory of one stashed weight version, in the unit of ``memory``. In a
    searched family ``effort`` is the number of orders that the search times (None: a quick construction only) and
    ``seed`` its seed. ``order`` is an imported schedule's own order, packed (order_codec.py).
    """

    family: str = "1f1b"
    p: int = 4
    m: int = 8
    v: int = 1
    group: int | None = None
    memory: float | None = None
    w_share: float = 1.0
    lifo: bool = False
    forward_only: bool = False
    frozen: tuple[int, ...] | None = None
    recompute: Modes = "none"
    recompute_at: str = "backward"
    spared: int = 0
    layers: tuple[int, ...] | None = None
    sizes: Sizes | None = None
    fixed: float = 0.0
    injection: Injection = "given"
    replicas: int = 1
    deal: str = "given"
    replica: int = 0
    vocabulary: str = "plain"
    offload: Modes = "none"
    shared_link: bool = False
    streams: str = "none"
    receives: str = "torch"
    weights: float | None = None
    effort: int | None = None
    seed: int = 1
    order: str | None = None
    costs: Costs = field(default_factory=Costs)
    found: tuple[Codes, ...] | None = field(default=None, compare=False, repr=False)
    """The rows of a searched order that is known already; they follow from the other fields, and only save time."""

    def __post_init__(self) -> None:
        """Replace modes of chunks by the word that means the same, so that equal specs are equal. A list of another
        length than ``v`` stays for ``registry.validate`` to refuse.
        """
        if isinstance(self.recompute, tuple | list) and len(self.recompute) == self.v:
            object.__setattr__(self, "recompute", in_one_word(self.recompute, tuple(MODES)))
        if isinstance(self.offload, tuple | list) and len(self.offload) == self.v:
            object.__setattr__(self, "offload", in_one_word(self.offload, OFFLOAD_OF_A_CHUNK, HALF))

    @staticmethod
    def from_json(data: Mapping[str, Any], default_v: Mapping[str, int] | None = None) -> Spec:
        """Read a spec; missing keys take their defaults (``v``: the family's natural number).

        Raises SpecError for unknown keys, wrong types, NaN, infinity, and sizes out of range. ``registry.validate``
        checks whether a family takes them together, and the number of ops.
        """
        if not isinstance(data, Mapping):
            text = message(
                "schedule.spec_is_an_object", 'a spec is an object such as {{"family": "1f1b", "p": 4, "m": 8}}'
            )
            raise SpecError("spec", data, text)
        reject_unknown(data, KEYS, "spec")
        family = data.get("family", Spec.family)
        if not isinstance(family, str):
            text = message("schedule.family_is_a_name", "family must be a name such as 1f1b")
            raise SpecError("family", family, text, nearest=Spec.family)
        family = canonical(family)
        return Spec(
            family=family,
            p=integer("p", data.get("p", Spec.p), 1, LIMITS["p"]),
            m=integer("m", data.get("m", Spec.m), 1, LIMITS["m"]),
            v=integer("v", data.get("v", (default_v or {}).get(family, Spec.v)), 1, LIMITS["v"]),
            group=optional(integer, "group", data.get("group"), 1, LIMITS["m"]),
            memory=optional(number, "memory", data.get("memory"), 1e-3, MAX_TIME),
            w_share=number("w_share", data.get("w_share", Spec.w_share), 0.0, 1.0),
            lifo=boolean("lifo", data.get("lifo", Spec.lifo)),
            forward_only=boolean("forward_only", data.get("forward_only", Spec.forward_only)),
            frozen=frozen_stages(data.get("frozen")),
            recompute=_modes("recompute", data.get("recompute", Spec.recompute), MODES, MODES),
            recompute_at=choice("recompute_at", data.get("recompute_at", Spec.recompute_at), TIMES),
            spared=integer("spared", data.get("spared", Spec.spared), 0, MOST_SPARED),
            layers=_layers(data.get("layers")),
            sizes=_sizes(data.get("sizes")),
            fixed=number("fixed", data.get("fixed", Spec.fixed), 0.0, 1.0),
            injection=_injection(data.get("injection", Spec.injection)),
            replicas=integer("replicas", data.get("replicas", Spec.replicas), 1, MOST_REPLICAS),
            deal=choice("deal", data.get("deal", Spec.deal), DEALS),
            replica=integer("replica", data.get("replica", Spec.replica), 0, MOST_REPLICAS - 1),
            vocabulary=choice("vocabulary", data.get("vocabulary", Spec.vocabulary), VOCABULARY),
            offload=_modes("offload", data.get("offload", Spec.offload), OFFLOAD, OFFLOAD_OF_A_CHUNK),
            shared_link=boolean("shared_link", data.get("shared_link", Spec.shared_link)),
            streams=choice("streams", data.get("streams", Spec.streams), STREAMS),
            receives=choice("receives", data.get("receives", Spec.receives), RECEIVES),
            weights=optional(number, "weights", data.get("weights"), 0.0, MAX_TIME),
            effort=optional(integer, "effort", data.get("effort"), 1, MOST_EFFORT),
            seed=integer("seed", data.get("seed", Spec.seed), 0, MOST_SEED),
            order=_order(data.get("order")),
            costs=_costs(data.get("costs", {})),
        )

    def checked(self) -> Spec:
        """Return the spec as ``from_json`` reads it. Raises SpecError for a field of a wrong type or out of range."""
        if not isinstance(self.costs, Costs):
            return Spec.from_json({"costs": self.costs})
        if self.found is not None and not _is_rows(self.found, self.p):
            text = message("schedule.found_is_rows", "found has the rows of a searched order; leave it out")
            raise SpecError("found", None, text)
        read = Spec.from_json(self.to_json())
        return read if self.found is None else read.with_(found=self.found)

    @property
    def timing(self) -> Costs:
        """Return the effective costs of ops, with every option applied."""
        if self.sizes is None:
            found = self.mean_timing
            return found.sized((1.0,) * self.m, 0.0) if found.recomputes_some else found
        return self.timing_with(dealt(self.sizes, self.m, self.replicas, self.deal)[self.replica])

    def timing_with(self, sizes: Sequence[float]) -> SizedCosts:
        """Return the effective costs of ops where these are the sizes of the micro-batches, in the data's order."""
        return self.mean_timing.sized(entering(sizes, self.injection), self.fixed)

    @property
    def mean_timing(self) -> Costs:
        """Return the effective costs of a micro-batch of size 1, for which orders are constructed."""
        return timing(self.costs, Options(**{name: getattr(self, name) for name in _OPTIONS}))

    @property
    def run_layers(self) -> tuple[int, ...] | None:
        """Return the layers of each stage in a run: as given, or with fewer on the last, because its output layer
        takes time too. None: the same number each."""
        costs = [cost for cost in (self.costs.F, self.costs.I, self.costs.W) if not isinstance(cost, tuple)]
        if self.vocabulary != "redistribute" or len(costs) < 3:
            return self.layers
        options, mean = Options(**{name: getattr(self, name) for name in _OPTIONS}), self.mean_timing
        return fewer_on_the_last(options, sum(costs) / self.v, self.p * ((mean.S or 0.0) + (mean.T or 0.0)))

    @property
    def stages(self) -> int:
        """Return the number of stages in model order."""
        custom = None if self.order is None else custom_stages(self.order)
        return self.p * self.v if custom is None else custom

    @property
    def barriers(self) -> int:
        """Return how often all ranks wait for each other around S and T, for each micro-batch."""
        return VOCABULARY[self.vocabulary].barriers

    @property
    def group_size(self) -> int:
        """Return the given group, else torch's rule: m spread over as many rounds as there are whole groups of p."""
        return self.group or self.m // max(1, self.m // self.p)

    @property
    def kept(self) -> float | tuple[float, ...]:
        """Return the part of a forward's activations in memory until its backward; of each chunk if they differ."""
        return kept(self.recompute)

    def to_json(self) -> dict[str, Any]:
        """Return every key, as ``from_json`` reads it."""
        plain = {name: getattr(self, name) for name in KEYS}
        lists = {name: list(value) for name, value in plain.items() if isinstance(value, tuple)}
        return plain | lists | {"costs": self.costs.to_json()}

    def with_(self, **changes: Any) -> Spec:
        """Return the same spec with some fields changed, and without rows found for this one."""
        return Spec(**(vars(self) | {"found": None} | changes))


KEYS = tuple(each.name for each in fields(Spec) if each.compare)
_OPTIONS = tuple(each.name for each in fields(Options))


def _is_rows(found: Any, p: Any) -> bool:
    """Return whether a value is one array of codes per rank; whether they are an order is checked with it."""
    return isinstance(found, tuple) and len(found) == p and all(isinstance(row, np.ndarray) for row in found)


def _costs(data: Any) -> Costs:
    if not isinstance(data, Mapping):
        text = message(
            "schedule.costs_is_an_object", 'costs is an object such as {{"F": 1, "I": 1, "W": 1, "comm": 0}}'
        )
        raise SpecError("costs", data, text)
    reject_unknown(data, COST_KEYS, message("schedule.the_costs", "costs"))
    return Costs(
        F=_cost("F", data.get("F", 1.0)),
        I=_cost("I", data.get("I", 1.0)),
        W=_cost("W", data.get("W", 1.0)),
        comm=number("comm", data.get("comm", 0.0), 0.0, MAX_TIME),
        **{key: optional(number, key, data.get(key), 0.0, MAX_TIME) for key in ("FB", "S", "T", "O", "R")},
        wire=number("wire", data.get("wire", 0.0), 0.0, MAX_TIME),
    )


def _layers(value: Any) -> tuple[int, ...] | None:
    """Read None, or one whole number per stage (their number is checked where the stages are known)."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= LIMITS["p"] * LIMITS["v"]:
        text = message("schedule.layers_is_a_list", "layers is a list with one whole number for each stage")
        raise SpecError("layers", value, text)
    layers = entries_of(value, lambda each: integer("layers", each, 0, MOST_LAYERS))
    if sum(layers) == 0:
        text = message("schedule.layers_all_zero", "layers must not all be 0; leave it out for equal stages")
        raise SpecError("layers", list(layers), text)
    return layers


def _sizes(value: Any) -> Sizes | None:
    """Read None, a rule, or one positive number per micro-batch (their number is checked with the spec)."""
    if value is None:
        return None
    if isinstance(value, str):
        return read_rule(value)
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= LIMITS["m"]:
        text = message("schedule.sizes_is_a_list", "sizes is a list with one number for each micro-batch, or a rule")
        raise SpecError("sizes", value, text, nearest="lognormal:0.3:1")
    return entries_of(value, lambda each: number("sizes", each, 1e-4, MOST_SIZE))


def _injection(value: Any) -> Injection:
    """Read a word, or the micro-batches in the order in which they enter."""
    if not isinstance(value, list | tuple):
        return choice("injection", value, INJECTIONS)
    found = entries_of(value, lambda each: integer("injection", each, 0, LIMITS["m"] - 1))
    if sorted(found) != list(range(len(found))):
        text = message(
            "schedule.injection_is_a_permutation",
            "injection names each micro-batch from 0 to {last} once, in the order in which they enter",
            last=len(found) - 1,
        )
        raise SpecError("injection", list(found), text, nearest="given")
    return found


def frozen_stages(value: Any) -> tuple[int, ...] | None:
    """Read None, the number of first stages that are not trained, or a list of such stages, as those stages."""
    most = LIMITS["p"] * LIMITS["v"]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        return tuple(range(integer("frozen", value, 0, most))) or None
    return tuple(sorted(set(entries_of(value, lambda each: integer("frozen", each, 0, most - 1))))) or None


def _modes(name: str, value: Any, words: Collection[str], of_a_chunk: Collection[str]) -> Modes:
    """Read one of ``words``, or a list with one of ``of_a_chunk`` per chunk (its length is checked with the family)."""
    if not isinstance(value, list | tuple):
        return choice(name, value, words)
    if not 1 <= len(value) <= LIMITS["v"]:
        text = message(
            "schedule.modes_need_entries",
            "{name} as a list has one word per chunk of a device, not {given}",
            name=name,
            given=len(value),
        )
        raise SpecError(name, len(value), text)
    return entries_of(value, lambda each: choice(name, each, of_a_chunk))


def _order(value: Any) -> str | None:
    """Read None, or a text that may be a packed order (the imported family checks whether it is)."""
    if value is None:
        return None
    if not isinstance(value, str) or not PACKED.fullmatch(value):
        text = message(
            "schedule.order_is_packed_text",
            "order is the packed text of an imported order; import the file again, or copy the whole link",
        )
        raise SpecError("order", value, text)
    if len(value) > MOST_ORDER:
        text = message(
            "schedule.order_too_long",
            "order has {given} characters; {most} is the most (run --csv takes a file of any length)",
            given=f"{len(value):,}",
            most=f"{MOST_ORDER:,}",
        )
        raise SpecError("order", value, text, limit=MOST_ORDER)
    return value


def _cost(name: str, value: Any) -> Cost:
    """Read one number, or a list with one number per stage (its length is checked where the stages are known)."""
    if not isinstance(value, list | tuple):
        return number(name, value, 0.0, MAX_TIME)
    if not 1 <= len(value) <= LIMITS["p"] * LIMITS["v"]:
        text = message(
            "schedule.list_needs_entries",
            "{name} as a list has one entry per stage, not {given}",
            name=name,
            given=len(value),
        )
        raise SpecError(name, len(value), text)
    if all(type(each) is float and 0.0 <= each <= MAX_TIME for each in value):  # as those of a model, quickly
        return tuple(value)
    return entries_of(value, lambda each: number(name, each, 0.0, MAX_TIME))


def reject_unknown(data: Mapping[str, Any], known: Any, where: Message | str) -> None:
    """Raise SpecError for the first key that is not known, with the closest known one; ``where`` names the object."""
    for key in data:
        if key not in known:
            close = difflib.get_close_matches(str(key), list(known), 1)
            text = message("schedule.unknown_key", "unknown key; {where} has {keys}", where=where, keys=list(known))
            if close:
                text = message("schedule.unknown_key_close", "unknown key; did you mean {close}?", close=close[0])
            raise SpecError(str(key)[:80], data[key], text, nearest=close[0] if close else None)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return ``value`` as a whole number. Raises SpecError unless it is one from ``low`` to ``high``."""
    if type(value) is int and low <= value <= high:  # nearly all of them, quickly
        return value
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = message(
            "schedule.must_be_whole",
            "{name} must be a whole number from {low} to {high}",
            name=name,
            low=low,
            high=high,
        )
        raise SpecError(name, value, text, nearest=low)
    if isinstance(value, float):
        number(name, value, low, high)  # NaN and infinity first, then the range
        if value != math.floor(value):
            nearest = min(max(round(value), low), high)
            text = message(
                "schedule.not_whole",
                "{name} must be a whole number; {nearest} is the nearest",
                name=name,
                nearest=nearest,
            )
            raise SpecError(name, value, text, nearest=nearest)
    _in_range(name, value, low, high)
    return int(value)


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return ``value`` as a finite number. Raises SpecError unless it is one from ``low`` to ``high``."""
    if type(value) is float and low <= value <= high:  # nearly all of them, quickly
        return value
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = message(
            "schedule.must_be_a_number",
            "{name} must be a number from {low} to {high}",
            name=name,
            low=f"{low:g}",
            high=f"{high:g}",
        )
        raise SpecError(name, value, text, nearest=low)
    if isinstance(value, float) and not math.isfinite(value):
        text = message(
            "schedule.must_be_finite",
            "{name} must be a finite number from {low} to {high}",
            name=name,
            low=f"{low:g}",
            high=f"{high:g}",
        )
        raise SpecError(name, value, text, nearest=low)
    _in_range(name, value, low, high)
    return float(value)


def _plain(value: Any) -> Any:
    """Return numpy's numbers as Python's, so that sizes and times may be computed with it."""
    return value.item() if isinstance(value, np.integer | np.floating) else value


def _in_range(name: str, value: float, low: float, high: float) -> None:
    """Raise SpecError unless ``value`` is from ``low`` to ``high``."""
    if not low <= value <= high:
        bound = low if value < low else high
        text = message(
            "schedule.out_of_range",
            "{name} must be from {low} to {high}",
            name=name,
            low=low if isinstance(low, int) else f"{low:g}",
            high=high if isinstance(high, int) else f"{high:g}",
        )
        raise SpecError(name, value, text, limit=bound, nearest=bound)


def choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return ``value``. Raises SpecError unless it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        words = list(choices)
        text = message("schedule.must_be_one_of", "{name} must be one of {choices}", name=name, choices=words)
        raise SpecError(name, value, text, nearest=words[0])
    return value


def boolean(name: str, value: Any) -> bool:
    """Return ``value``. Raises SpecError unless it is true or false."""
    if not isinstance(value, bool):
        text = message("schedule.must_be_true_or_false", "{name} must be true or false", name=name)
        raise SpecError(name, value, text, nearest=False)
    return value


def entries_of(values: Sequence[Any], read: Callable[[Any], T]) -> tuple[T, ...]:
    """Return every entry of a list as ``read`` gives it. Raises SpecError for the first bad one, with the list that
    has its nearest legal value in its place, if that list is legal: one entry's value is none for the whole list.
    """
    out: list[T] = []
    for at, each in enumerate(values):
        try:
            out.append(read(each))
        except SpecError as error:
            if error.nearest is not None:
                error.nearest = _corrected(values, at, error.nearest, read)
            raise
    return tuple(out)


def _corrected(values: Sequence[Any], at: int, nearest: Any, read: Callable[[Any], Any]) -> list[Any] | None:
    """Return the list with one entry replaced; None if another is bad too."""
    corrected = [*values[:at], nearest, *values[at + 1 :]]
    try:
        return [read(each) for each in corrected]
    except SpecError:
        return None


def with_length(values: Sequence[Any], count: int) -> list[Any]:
    """Return the first ``count`` entries of a list that is not empty; its last is repeated where it is shorter."""
    return [*values[:count], *[values[-1]] * (count - len(values))]


def optional(read: Any, name: str, value: Any, low: Any, high: Any) -> Any:
    """Return None for None, else the result of ``read`` for the value."""
    return None if value is None else read(name, value, low, high)
