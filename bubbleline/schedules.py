"""A schedule and everything that follows from it, each computed at its first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from backend.schedule import result
from backend.schedule.analysis.law_table import QUANTITIES
from backend.schedule.analysis.why_idle import Idle, IdleReasons
from backend.schedule.errors import SpecError
from backend.schedule.families import imported, registry, searched
from backend.schedule.families.family import Family
from backend.schedule.hardware.preset_costs import Preset, asked_spec
from backend.schedule.hardware.step_units import StepUnits
from backend.schedule.interop import ascii, torch_csv
from backend.schedule.interop.configurations.write import CONFIGURED, configuration
from backend.schedule.order.order import Order
from backend.schedule.search.improve import SECONDS
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import Figures, figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.simulation.timeline import Timeline
from backend.schedule.spec import Spec, choice, number
from bubbleline.settings import Costs, Options, preset_of, spec_data
from bubbleline.tables import ops_of, to_pandas

if TYPE_CHECKING:
    from bubbleline.comparison import Comparison
    from bubbleline.measured import Run

PAGE = "http://127.0.0.1:5000"
MOST_DRAWN = 20_000  # ops, of which a notebook shows the picture


@dataclass(frozen=True)
class Law:
    """A closed form at a schedule's sizes and costs.

    Attributes:
        quantity: What it gives: "bubble" (idle time of a device), "share" (of the step), "makespan", or "peak" (chunks
            in flight).
        formula: The formula, in p, m, v and the costs f, i, w, b = i + w, c.
        value: Its value, in the costs' unit.
        exact: Whether all its conditions hold, so that it equals the simulation.
        why: The first condition that fails, None if it is exact.
        window: "global", from the first start to the last end, or "span", the longest device's own.
    """

    quantity: str
    formula: str
    value: float
    exact: bool
    why: str | None
    window: str


@dataclass(frozen=True)
class Certificate:
    """How good a searched order is: no order has a span below ``lower_bound``; ``gap`` is by which share this one is
    above it, ``bound`` the argument.
    """

    lower_bound: float
    bound: str
    gap: float
    optimal: bool


@dataclass(frozen=True)
class Schedule:
    """A schedule: what was asked for, and the figures that follow. Made by ``schedule``, ``search``, ``from_csv``.

    Attributes:
        spec: Family, sizes, costs and options; ``spec.to_json()`` is what the command line and the server take.
        model: The model on a machine that the costs come from, if there is one.

    Examples:
        >>> import bubbleline as bl
        >>> plan = bl.schedule("1f1b", p=2, m=3)
        >>> print(plan)
        1F1B   p 2   m 3   v 1
          0 F0-F1-......B0----F2-B1----...B2----
          1 ...F0-B0----F1-B1----F2-B2----......
    """

    spec: Spec
    model: Preset | None = None
    _given: Order | None = None

    @property
    def family(self) -> str:
        """The family's name, "imported" for an order from a file."""
        return self.spec.family

    @property
    def title(self) -> str:
        """The family's name as papers write it."""
        return str(self._family.title)

    @property
    def p(self) -> int:
        """Devices of the pipeline."""
        return self.spec.p

    @property
    def m(self) -> int:
        """Micro-batches of a step."""
        return self.spec.m

    @property
    def v(self) -> int:
        """Model chunks per device."""
        return self.spec.v

    @property
    def costs(self) -> Costs:
        """The costs as given, or those of the model."""
        return Costs(**{name.lower(): cost for name, cost in self.spec.costs.to_json().items()})

    @cached_property
    def order(self) -> list[str]:
        """The ops of each rank as text, in the order of execution: "0F0 0F1 0B0 0B1"."""
        return self._order.text()

    @property
    def bubble(self) -> float:
        """The idle share of the step, from the first start to the last end, over all devices: 0 to 1.

        ``result()["bubble"]`` has the other definitions.
        """
        return self._figures.global_bubble.of_total

    @property
    def step_time(self) -> float:
        """The time from the first start to the last end, in the costs' unit (ms with a model)."""
        return self._figures.makespan

    @cached_property
    def peak_memory(self) -> npt.NDArray[np.float64]:
        """(p,) the most memory of each rank, in one micro-batch's activations on a device."""
        return np.array(result.memory_of(self.spec, self._timeline))

    @cached_property
    def peak_in_flight(self) -> npt.NDArray[np.int64]:
        """(p,) the most chunks in flight on each rank."""
        return peaks(self._order)[0]

    @property
    def law(self) -> Law | None:
        """The first law that is exact here, else the family's first; None where no closed form is known."""
        return next((law for law in self.laws if law.exact), self.laws[0] if self.laws else None)

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """All laws of the family that apply."""
        if self.family == imported.NAME:
            return ()
        rows = ({("formula" if key == "text" else key): value for key, value in law.items() if key != "numbers"}
                for law in result.law_values(self.spec))  # fmt: skip
        return tuple(Law(**row) for row in rows)

    @cached_property
    def ops(self) -> npt.NDArray[Any]:
        """(N,) all ops as a structured array, rank after rank in the order of execution.

        Fields: rank, kind (F, I, W, B, S, T, or FB, an overlapped pair), stage, chunk, micro (the micro-batch), start
        and end in the costs' unit; of a pair's backward paired_stage and paired_micro, else -1. Copies to host memory
        run beside the ops and are not among them.

        Examples:
            >>> import bubbleline as bl
            >>> ops = bl.schedule("1f1b", p=4, m=8).ops
            >>> mine = ops[ops["rank"] == 0]
            >>> float((mine["end"] - mine["start"]).sum())
            24.0
        """
        return ops_of(self._timeline)

    def to_pandas(self) -> Any:
        """Return ``ops`` as a pandas DataFrame. Raises ImportError where pandas is not installed."""
        return to_pandas(self.ops)

    @cached_property
    def units(self) -> StepUnits | None:
        """Seconds, tokens, FLOP utilisation and bytes of a step; None without a model.

        Fields: seconds, rate (tokens per second), mfu (0 to 1), memory.ranks, memory.most and memory.limit (bytes),
        memory.fits.
        """
        return None if self.model is None else self.model.units(self.spec, self._timeline)

    @cached_property
    def certificate(self) -> Certificate | None:
        """What no order can be better than, of a searched family; None of others."""
        if self._family.problem is None:
            return None
        return Certificate(**searched.certificate(self.spec, self._family, self._figures.longest_stage))

    def result(self, times: bool = False) -> dict[str, Any]:
        """Return all figures as ``app.py show --json`` prints them; docs/contracts.md describes this Result.

        Args:
            times: Also start and end of every op, by rank.
        """
        return result.describe(self._whole_spec, self._order, self._timeline, times)

    def why_idle(self, rank: int, t: float) -> Idle | None:
        """Explain why a rank is idle at a time.

        Args:
            rank: 0 to p - 1.
            t: A time from 0 to ``step_time``.

        Returns:
            The idle time with its start, end, kind and sentence; None where the rank is busy.

        Raises:
            SpecError: There is no such rank.

        Examples:
            >>> import bubbleline as bl
            >>> plan = bl.schedule("1f1b", p=4, m=8)
            >>> print(plan.why_idle(rank=3, t=1).sentence)
            Rank 3 is idle from 0 to 3: fill: it waits for the first micro-batch. 3F0's input is the output of 2F0 on \
rank 2, which ends at 3. 2F0 itself waits for 1F0 on rank 1, which ends at 2.
        """
        if not 0 <= rank < self.p:
            nearest = min(max(rank, 0), self.p - 1)
            raise SpecError("rank", rank, f"the ranks are 0 to {self.p - 1}", nearest=nearest)
        return self._reasons.at(rank, t)

    def compare(self, *others: Schedule) -> Comparison:
        """Put this schedule and others side by side; ratios are relative to this one."""
        from bubbleline.comparison import Comparison

        for other in others:
            if not isinstance(other, Schedule):
                raise TypeError(f"compare puts schedules side by side, not {other!r}; bl.compare takes names")
        return Comparison((self, *others))

    def run(
        self,
        *,
        mode: Literal["auto", "paced", "free"] = "auto",
        unit_ms: float | None = None,
        steps: int | None = None,
        dtype: Literal["float32", "bfloat16"] | None = None,
        device: Literal["auto", "cpu", "cuda"] | None = None,
    ) -> Run:
        """Execute the schedule with real tensors, one process a rank, and compare every gradient with one process.

        Args:
            mode: "paced" holds each op to its planned time, "free" runs as fast as it can.
            unit_ms: Milliseconds of one unit of the costs, paced.
            steps: Training steps in sequence; the figures are of the last one.
            dtype: Type of activations, messages and arithmetic.
            device: "auto" takes GPUs where there are some.

        Returns:
            Measured times and the verdict on the gradients.

        Raises:
            ImportError: torch is not installed.
            SpecError: An option is illegal.
            RunError: The run failed.
        """
        from bubbleline.measured import run

        return run(self, {"mode": mode, "unit_ms": unit_ms, "steps": steps, "dtype": dtype, "device": device})

    def to_torch_csv(self) -> str:
        """Return the order as torch's CSV, which ``from_csv`` and torch.distributed.pipelining read.

        Raises:
            SpecError: torch's format has no text for it (two replicas, a spread output layer, copies).

        Examples:
            >>> import bubbleline as bl
            >>> print(bl.schedule("gpipe", p=2, m=2).to_torch_csv(), end="")
            0F0,0F1,0B0,0B1
            1F0,1F1,1B0,1B1
        """
        return torch_csv.dump(self._order)

    def configuration(self, framework: str) -> str:
        """Return what makes a framework train so: flags of "megatron" or "zero-bubble", overrides of "nemo" (Megatron
        Bridge), arguments of "torch" or "torch-csv" (torchtitan), or the JSON of "deepspeed".

        Raises:
            SpecError: The framework does not run it; ``nearest`` is what it does run.

        Examples:
            >>> import bubbleline as bl
            >>> print(bl.schedule("1f1b", p=4, m=8).configuration("megatron"), end="")
            torchrun --nnodes 1 --nproc-per-node 4 pretrain_gpt.py \\
              --pipeline-model-parallel-size 4 \\
              --micro-batch-size 1 \\
              --global-batch-size 8
        """
        return configuration(choice("framework", framework, CONFIGURED), self.spec, self.model).text

    def link(self, base: str = PAGE) -> str:
        """Return the link that shows this schedule on a server's page.

        Raises:
            SpecError: An imported order that is too long for a link.

        Examples:
            >>> import bubbleline as bl
            >>> bl.schedule("zb-h1", p=8, m=32, costs={"f": 1.5, "comm": 0.1}).link()
            'http://127.0.0.1:5000/?family=zb-h1&p=8&m=32&F=1.5&comm=0.1'
        """
        from backend.address.preset import link_parts
        from backend.address.query import query_of

        parts = [query_of(self._whole_spec), *([] if self.model is None else link_parts(self.model))]
        query = "&".join(filter(None, parts))
        return f"{base.rstrip('/')}/?{query or f'family={self.family}'}"

    def svg(self, theme: Literal["light", "dark"] = "light") -> str:
        """Return the picture of the timeline as an SVG document. Raises SpecError for an unknown theme."""
        from backend.charts.previews.card import TimedPlan
        from backend.charts.previews.svg import document
        from backend.charts.theme_tokens import THEMES

        choice("theme", theme, THEMES)
        return document([TimedPlan(self._whole_spec, self._timeline, self.bubble)], theme)

    def __str__(self) -> str:
        head = f"{self.title}   p {self.p}   m {self.m}   v {self.v}"
        return "\n".join([head, *ascii.draw(self._timeline)])

    def __repr__(self) -> str:
        return f"<Schedule {self.family} p={self.p} m={self.m} v={self.v}>"

    def _repr_html_(self) -> str:
        facts = [f"bubble {self.bubble:.1%}", f"step time {self.step_time:g}"]
        facts.append(f"peak memory {max(self.peak_memory):.4g} micro-batches")
        if self.law is not None and self.law.exact:
            facts.append(
                f"{QUANTITIES[self.law.quantity]} = <code>{escape(self.law.formula)}</code> = {self.law.value:g}"
            )
        drawn = self.svg() if len(self._order) <= MOST_DRAWN else f"<p>{self.title}, {len(self._order):,} ops</p>"
        return f"<figure>{drawn}<figcaption style='font-size:smaller'>{' · '.join(facts)}</figcaption></figure>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        picture = {"image/svg+xml": self.svg()} if len(self._order) <= MOST_DRAWN else {}
        return {"text/plain": repr(self), "text/html": self._repr_html_()} | picture

    @cached_property
    def _order(self) -> Order:
        return registry.order(self.spec) if self._given is None else self._given

    @cached_property
    def _timeline(self) -> Timeline:
        return simulate(self._order, self.spec.timing, self.spec.v)

    @cached_property
    def _figures(self) -> Figures:
        return figures(self._timeline)

    @cached_property
    def _reasons(self) -> IdleReasons:
        return IdleReasons(self._timeline, self.spec, self.title)

    @property
    def _family(self) -> Family:
        return registry.family_of(self.spec) if self._given is None else imported.family_of_order(self._given)

    @cached_property
    def _whole_spec(self) -> Spec:
        """The spec, of an order from a file with the order in it. Raises SpecError if it is too long for a link."""
        if self._given is None or self.spec.order is not None:
            return self.spec
        return self.spec.with_(order=imported.spec_of(self._given).order)


def schedule(
    family: str = "1f1b",
    *,
    p: int | None = None,
    m: int | None = None,
    v: int | None = None,
    costs: Costs | Mapping[str, Any] | None = None,
    model: str | Preset | None = None,
    **options: Unpack[Options],
) -> Schedule:
    """Return the schedule of a family.

    Args:
        family: A name such as "1f1b" or "zb-h1"; ``families()`` lists them.
        p: Devices, 4 by default.
        m: Micro-batches of a step, 8 by default.
        v: Model chunks per device; by default the family's own number.
        costs: ``Costs`` or a mapping with its names; 1 each by default, or those of the model.
        model: A model on a machine: ``bl.model(...)``, or a name.
        **options: The keys of ``Options``.

    Raises:
        SpecError: A value is illegal; ``field``, ``value`` and ``nearest`` say which, and what would be legal.

    Examples:
        >>> import bubbleline as bl
        >>> law = bl.schedule("zb-h1", p=4, m=8, costs=bl.Costs(f=1, i=1.5, w=0.5)).law
        >>> law.quantity, law.formula, law.value
        ('bubble', '(p - 1)*max(f, i, f + i - w)', 6.0)
        >>> try:
        ...     bl.schedule("dualpipe", p=4, m=7)
        ... except bl.SpecError as error:
        ...     print(error, "|", error.field, error.value, error.nearest)
        m: DualPipe needs at least 2p = 8 micro-batches (nearest legal value: 8) | m 7 8
    """
    preset = preset_of(model)
    data = spec_data(costs, {"family": family, "p": p, "m": m, "v": v, **options})
    return Schedule(asked_spec(data, preset), preset)


def search(
    family: str = "zb-auto",
    *,
    seconds: float = SECONDS,
    p: int | None = None,
    m: int | None = None,
    v: int | None = None,
    costs: Costs | Mapping[str, Any] | None = None,
    model: str | Preset | None = None,
    **options: Unpack[Options],
) -> Schedule:
    """Search for the best order at these costs and within a memory limit.

    Args:
        family: zb-auto, v-auto or chimera-auto.
        seconds: How long to search; ``effort``, a number of orders, instead gives the same order each time.
        p, m, v, costs, model, **options: As of ``schedule``; ``memory`` is the limit.

    Returns:
        The schedule; its ``spec`` has the effort that reproduces it, its ``certificate`` a bound.

    Raises:
        SpecError: A value is illegal, or the family has one order only.

    Examples:
        >>> import bubbleline as bl
        >>> found = bl.search("v-auto", p=4, m=8, memory=2.5, effort=50)
        >>> bool(found.peak_memory.max() <= 2.5), found.certificate.gap < 0.2
        (True, True)
    """
    number("seconds", seconds, 0.0, 3600.0)
    asked = schedule(family, p=p, m=m, v=v, costs=costs, model=model, **options)
    if asked._family.problem is None:
        names = [family.name for family in registry.FAMILIES.values() if family.problem is not None]
        text = f"{asked.title} has one order; searched are {', '.join(names)}"
        raise SpecError("family", family, text, nearest=names[0])
    if asked.spec.effort is not None:
        return asked
    spec, _, _ = searched.search_order(asked.spec, asked._family, seconds)
    return Schedule(spec, asked.model)
