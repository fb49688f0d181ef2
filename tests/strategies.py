"""Hypothesis strategies: every legal spec of every family, and costs. The one place where tests make specs."""

from __future__ import annotations

from hypothesis import strategies as st

from backend.schedule.costs import Costs
from backend.schedule.errors import SpecError
from backend.schedule.families import FAMILIES, judge
from backend.schedule.spec import Spec

# 12 divides by every v up to 4, so that durations per chunk are whole and sums in float64 exact.
UNIT = 12


@st.composite
def whole_costs(draw: st.DrawFn, hops: bool = True) -> Costs:
    """Equal stages, integer durations for every chunk; half of the time F = I, where more laws are exact."""
    f, i, w = (UNIT * draw(st.integers(1, 9)) for _ in range(3))
    comm = draw(st.sampled_from([0, 0, 1, 5, 40])) if hops else 0
    return Costs(float(f), float(f if draw(st.booleans()) else i), float(w), float(comm))


@st.composite
def specs(draw: st.DrawFn, family: str | None = None, hops: bool = True, max_p: int = 8, max_m: int = 24) -> Spec:
    """A legal spec of one family or of any: sizes are drawn freely and illegal ones replaced by the nearest legal."""
    name = draw(st.sampled_from(sorted(FAMILIES))) if family is None else family
    chosen = FAMILIES[name]
    least, _, most = chosen.v
    spec = Spec(
        family=name,
        p=draw(st.integers(1, max_p)),
        m=draw(st.integers(1, max_m)),
        v=draw(st.integers(least, min(most, 4))),
        group=draw(st.none() | st.integers(1, max_m)) if "group" in chosen.fields else None,
        lifo=draw(st.booleans()) if "lifo" in chosen.fields else False,
        costs=draw(whole_costs(hops)),
    )
    return nearest_legal(spec)


def nearest_legal(spec: Spec) -> Spec:
    """Follow the errors' own advice until the spec is legal; advice that leads nowhere is a defect."""
    for _ in range(6):
        try:
            judge(spec)
        except SpecError as error:
            spec = spec.with_(**{error.field: error.nearest})
        else:
            return spec
    raise AssertionError(f"no legal spec near {spec}")
