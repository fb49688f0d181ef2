"""Options that commands share: a spec from options, how long to search, and leaving with an error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

import click

from backend.errors import RequestError, message
from backend.schedule import result
from backend.schedule.families import registry
from backend.schedule.families.searched import search_order
from backend.schedule.family_names import canonical
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB, DeviceMemory
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.recompute import MODES
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.order import Order
from backend.schedule.search.improve import SECONDS
from backend.schedule.spec import COST_KEYS, Spec

F = TypeVar("F", bound=Callable[..., Any])


def _cost(value: str) -> float | list[float]:
    parts = [float(part) for part in value.split(",")]
    return parts[0] if len(parts) == 1 else parts


class CostType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """A number, or numbers separated by commas, one per stage."""

    name = "number[,number...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | list[float]:
        """Read the text; the spec checks the range."""
        try:
            return _cost(value) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is not a number, nor numbers separated by commas", param, ctx)


class SetType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """FIELD=VALUE, the value as JSON has it."""

    name = "field=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Read the text; the setting checks the field and its range."""
        field, _, text = value.partition("=")
        try:
            return field, json.loads(text)
        except (ValueError, RecursionError):  # no equals sign is no JSON either
            self.fail(f"{value!r} is not a field and a JSON value such as hidden=4096", param, ctx)


class LayersType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """Whole numbers separated by commas, one per stage."""

    name = "count,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Read the text; the spec checks the count."""
        try:
            return [int(part) for part in value.split(",")] if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is not whole numbers separated by commas", param, ctx)


class ModesType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """A word, or words separated by commas, one per chunk of a device."""

    name = "word[,word...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | list[str]:
        """Read the text; the spec checks the words and their number."""
        return value.split(",") if isinstance(value, str) and "," in value else value


def _modes_option(name: str, words: Iterable[str], meaning: str) -> Callable[[F], F]:
    """Describe an option that is one word for all chunks of a device, or a word per chunk."""
    return click.option(
        f"--{name}",
        type=ModesType(),
        metavar=f"[{'|'.join(words)}][,...]",
        help=f"{meaning}; full,none: chunk by chunk",
    )


PLACES = {name: place.summary for name, place in VOCABULARY.items()}


def _choices(what: str, meanings: dict[str, str]) -> str:
    """Describe a choice and each of its values."""
    return f"{what}; " + "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


def spec_options(optional: bool = False, several: bool = False) -> Callable[[F], F]:
    """Add the options of a spec to a command; only those given are passed on: defaults are the spec's own."""
    options = [
        click.argument("family", required=not optional, nargs=-1 if several else 1),
        click.option("-p", type=int, help="devices (default 4)"),
        click.option("-m", type=int, help="micro-batches a step (default 8)"),
        click.option("-v", type=int, help="model chunks per device"),
        click.option("--group", type=int, help="micro-batches an interleaved schedule takes together"),
        click.option(
            "--lifo", is_flag=True, default=None, help="gpipe: backward from the last micro-batch to the first"
        ),
        click.option("--forward-only", is_flag=True, default=None, help="inference: forwards without backwards"),
        _modes_option("recompute", MODES, "what is run again before the backward"),
        click.option("--layers", type=LayersType(), help="layers in each stage, such as 5,5,5,3"),
        click.option(
            "--vocabulary", type=click.Choice(list(VOCABULARY)), help=_choices("where the output layer is", PLACES)
        ),
        _modes_option("offload", OFFLOAD, _choices("what goes to host memory", OFFLOAD)),
        click.option("--shared-link", is_flag=True, default=None, help="two devices share one link to host memory"),
        click.option("--weights", type=float, help="memory of a stashed weight version (pipedream), as --memory"),
        click.option("--f", "F", type=CostType(), help="forward time of a device's share, or one number per stage"),
        click.option("--i", "I", type=CostType(), help="input-gradient time, likewise"),
        click.option("--w", "W", type=CostType(), help="weight-gradient time, likewise"),
        click.option("--comm", type=float, help="latency of one hop between devices"),
        click.option("--fb", "FB", type=float, help="time of an overlapped pair (default F + I + W)"),
        click.option("--s", "S", type=float, help="time of a device's shard of the output layer (default F / 4)"),
        click.option("--t", "T", type=float, help="time of that shard's gradients (default F / 2)"),
        click.option("--o", "O", type=float, help="time of one copy of a device's share (default (F + I + W) / 2)"),
        click.option("--effort", type=int, help="orders to time in a search: the same effort gives the same order"),
        click.option("--seed", type=int, help="seed of a search"),
        click.option("--order", help="imported: the order itself, packed as in a link"),
        click.option("--memory", type=float, help="memory limit in micro-batches' activations on one device"),
        click.option("--w-share", type=float, help="share of the activations that W still needs after I"),
    ]

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def preset_options(command: F) -> F:
    """Add the options of a model and a machine to a command; ``preset_data`` takes their values."""
    options = [
        click.option("--model", help="a model: costs, tokens per second, FLOP utilisation and memory are its own"),
        click.option("--machine", help="a machine, with --model"),
        click.option("--tp", type=int, help="devices that share each stage, with --model"),
        click.option("--data", type=int, help="data-parallel replicas, with --model"),
        click.option("--zero", type=int, help="stage of ZeRO over the replicas, with --model"),
        click.option("--heads", is_flag=True, default=None, help="count embedding and output layer, with --model"),
        click.option("--set", "changes", type=SetType(), multiple=True, help="any other field of model or machine"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def preset_data(given: dict[str, Any]) -> Preset | None:
    """Take the options of a model and a machine out of a command's; None without a model. Raises RequestError."""
    changes = given.pop("changes")
    data = {key: given.pop(key) for key in ("model", "machine", "tp", "data", "zero", "heads")}
    data = {key: value for key, value in data.items() if value is not None}
    for field, value in changes:
        if field in data:
            raise RequestError(field, value, message("web.given_twice", "{field} is given twice", field=field))
        data[field] = value
    if not data:
        return None
    if "model" not in data:
        key = next(iter(data))
        raise RequestError(key, data[key], message("web.needs_a_model", "{key} means nothing without --model", key=key))
    preset = Preset.of(data)
    preset.check()
    return preset


UNIT_HEAD = ["tokens/s", "MFU", "GB", "fits"]


def unit_cells(units: dict[str, Any] | None) -> list[str]:
    """Return the columns ``UNIT_HEAD`` of a step's figures, as in their JSON."""
    if units is None:
        return ["-"] * len(UNIT_HEAD)
    memory = units["memory"]
    fits = "yes" if memory["fits"] else f"no, {memory['limit'] / GB:.4g} GB"
    return [f"{units['tokens_per_second']:,.0f}", f"{units['mfu']:.1%}", f"{memory['most'] / GB:.4g}", fits]


def fit_text(memory: DeviceMemory) -> str:
    """Return whether the fullest device fits, with its memory."""
    verdict = "fits" if memory.fits else "does not fit"
    return f"{verdict}: {memory.most / GB:.4g} GB of {memory.limit / GB:.4g} GB on device {memory.rank}"


def spec_data(given: dict[str, Any]) -> dict[str, Any]:
    """Return the spec as JSON from a command's options, those not given left out."""
    data = {key: value for key, value in given.items() if value is not None}
    if isinstance(data.get("family"), str):
        data["family"] = canonical(data["family"])
    costs = {key: data.pop(key) for key in COST_KEYS if key in data}
    return data | ({"costs": costs} if costs else {})


seconds_option = click.option(
    "--seconds",
    type=click.FloatRange(0.0, 3600.0),
    default=SECONDS,
    show_default=True,
    help="how long to search, where the order is searched and no --effort is given; 0: only construct",
)


def built(spec: Spec, seconds: float) -> tuple[Spec, Order]:
    """Build the order of a legal spec, searching for ``seconds`` if its family searches.

    Returns (the spec that reproduces the order, the order).
    """
    family = registry.family_of(spec)
    if family.problem is None or spec.effort is not None or seconds == 0.0:
        return spec, registry.order(spec)
    found, order, _ = search_order(spec, family, seconds)
    return found, order


def fail(data: dict[str, Any], error: RequestError, as_json: bool) -> NoReturn:
    """Print an error as text or JSON and exit with 2."""
    if as_json:
        click.echo(json.dumps(result.failure(data, error)))
    else:
        advice = f" (nearest legal value: {error.nearest})" if error.nearest is not None else ""
        click.echo(f"Error: {error.field}: {error.message}{advice}", err=True)
    sys.exit(2)
