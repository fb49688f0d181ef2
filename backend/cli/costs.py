"""The command `costs`: times and bytes of a model on a machine, with their arithmetic, and balanced layers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from backend.cli.options import COSTS, LAYERS, ListType, SetType, all_of, fail, fit_text, parallel_options, with_changes
from backend.errors import RequestError, message
from backend.schedule.hardware.balance import BALANCE_KEYS, Balance, balance_of
from backend.schedule.hardware.cost_model import DEFAULTS, KEYS, LINKS, Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.hardware.footprint import memory_note
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.step_units import GB
from backend.schedule.interop.ascii import columns
from backend.schedule.interop.megatron_layout import with_layout

_parallel = all_of(*parallel_options())
SPLIT = ListType("number[,number...]", int, LAYERS.wanted, layout=True)


@click.command()
@click.argument("model")
@click.option("--machine", help=f"{', '.join(MACHINES)} (default {DEFAULTS['machine']})")
@click.option("-p", type=int, help=f"devices of the pipeline (default {DEFAULTS['p']})")
@click.option("-v", type=int, help="model chunks per device (default 1)")
@click.option("--tp", type=int, help="devices that share each stage (tensor parallelism; default 1)")
@click.option("--data", type=int, help="data-parallel replicas of the pipeline (default 1)")
@click.option("--zero", type=int, help="ZeRO: 1 shards the optimizer, 2 also gradients, 3 also weights (default 0)")
@_parallel
@click.option(
    "--layers", type=SPLIT, help="layers of the model, or of each stage, or Megatron-LM's layout 'Et*3|(tt|)*29,m|L'"
)
@click.option("--link", type=click.Choice(LINKS), help="what a hop crosses (auto: NVLink where all fit in a node)")
@click.option(
    "--in-flight",
    type=ListType("number[,number...]", float, COSTS.wanted),
    help="micro-batches whose activations a device holds, or each (default: those of 1F1B)",
)
@click.option("--set", "changes", type=SetType(), multiple=True, help="any other field: hidden=4096, flops=4e14, ...")
@click.option("--balance", "family", metavar="FAMILY", help="find a better split of the layers for this schedule")
@click.option("-m", type=int, help="with --balance: micro-batches a step (default 32)")
@click.option("--json", "as_json", is_flag=True, help="as JSON; its costs and w_share fit into a spec")
def costs(as_json: bool, changes: Sequence[tuple[str, Any]], **given: Any) -> None:
    """Work out times, hops and bytes of MODEL (a preset, or custom with --set) on a machine."""
    data = {key: value for key, value in given.items() if value is not None}
    try:
        data = with_layout(with_changes(data, changes))
        if "family" not in data and "m" in data:
            why = message("web.m_needs_balance", "m means nothing without --balance FAMILY")
            raise RequestError("m", data["m"], why)
        found = estimate(Setting.read({key: value for key, value in data.items() if key not in BALANCE_KEYS}))
        split = balance_of(data) if "family" in data else None
    except RequestError as error:
        fail({key: value for key, value in data.items() if key in KEYS}, error, as_json)
    if as_json:
        click.echo(json.dumps(found.as_dict() | ({"balance": split.as_dict()} if split else {})))
        return
    click.echo("\n".join(_head(found) + _table(found) + (_splits(split) if split else [])))


def _head(found: Estimate) -> list[str]:
    setting, costs = found.setting, found.costs
    model, machine = setting.model, setting.machine
    memory = found.footprint.memory
    hold, full = max(memory), memory.index(max(memory))
    lines = [
        f"{model.title} on {machine.title}   p {setting.p}   v {setting.v}   tp {setting.tp}"
        f"   {_efficiency(setting)}s {model.sequence}   b {model.micro_batch}",
        *(f"{kind} {_times(cost)} ms" for kind, cost in (("F", costs.F), ("I", costs.I), ("W", costs.W))),
        f"comm {costs.comm:.4g} ms   w_share {found.footprint.w_share:.4g}",
        f"memory {hold / GB:.4g} GB of {machine.memory / GB:.4g} GB on device {full} with {setting.held[full]:.4g} "
        f"micro-batches in flight{'' if setting.in_flight else ' (1F1B)'}:"
        f" {'fits' if found.footprint.fits else 'does not fit'}",
    ]
    notes = (model.whole_note, machine.source, memory_note(setting))
    return [*lines, *(line for line in notes if line), ""]


def _efficiency(setting: Setting) -> str:
    return "" if setting.efficiency is None else f"efficiency {setting.efficiency:g}   "


def _times(cost: float | tuple[float, ...]) -> str:
    return ",".join(f"{each:.5g}" for each in cost) if isinstance(cost, tuple) else f"{cost:.5g}"


def _table(found: Estimate) -> list[str]:
    """Return every figure: its name, value and unit, its formula, and the formula with numbers."""
    rows = [
        (fig.name, f"{fig.value:.6g} {fig.unit}".strip(), "=", fig.formula, "=", fig.numbers)
        for fig in found.ledger.figures
    ]
    return columns(rows, (0, 3, 5))


def _splits(split: Balance) -> list[str]:
    saved = 1 - split.after.makespan / split.before.makespan
    return [
        "",
        f"layers for {split.spec.family}, m {split.spec.m} ({split.tried} splits simulated)",
        *(
            f"{name}  {','.join(map(str, each.layers))}   makespan {each.makespan:.6g} ms"
            f"   heaviest stage {each.heaviest:.5g} ms   {fit_text(each.memory)}"
            for name, each in (("before", split.before), ("after ", split.after))
        ),
        f"saved {saved:.2%}",
    ]
