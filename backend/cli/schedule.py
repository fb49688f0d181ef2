"""The commands that need only the schedule core: show, sweep, check, export. app.py adds serve and run.

Exit codes: 0 done, 1 an imported order that cannot run, 2 a spec or an option that is not legal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from backend.schedule import result
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import registry
from backend.schedule.families.searched import proved, search_order
from backend.schedule.interop import ascii, torch_csv
from backend.schedule.interop.export import FORMATS, render
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.recompute import MODES
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.order import Order
from backend.schedule.search.improve import SECONDS
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import COST_KEYS, Spec

F = TypeVar("F", bound=Callable[..., Any])


def _cost(value: str) -> float | list[float]:
    parts = [float(part) for part in value.split(",")]
    return parts[0] if len(parts) == 1 else parts


class CostType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """A number, or numbers separated by commas, one a stage."""

    name = "number[,number...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | list[float]:
        """Read the text; the range is the spec's to judge."""
        try:
            return _cost(value) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is not a number, nor numbers separated by commas", param, ctx)


class LayersType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """Whole numbers separated by commas, one a stage."""

    name = "count,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Read the text; how many there must be is the spec's to judge."""
        try:
            return [int(part) for part in value.split(",")] if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is not whole numbers separated by commas", param, ctx)


PLACES = {name: place.summary for name, place in VOCABULARY.items()}


def _each(what: str, meanings: dict[str, str]) -> str:
    """A choice and what each of its words means."""
    return f"{what}; " + "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


def spec_options(optional: bool = False, several: bool = False) -> Callable[[F], F]:
    """The options that make a spec; each is passed on only if given, so that defaults stand in one place."""
    options = [
        click.argument("family", required=not optional, nargs=-1 if several else 1),
        click.option("-p", type=int, help="devices (default 4)"),
        click.option("-m", type=int, help="micro-batches a step (default 8)"),
        click.option("-v", type=int, help="model chunks per device"),
        click.option("--group", type=int, help="micro-batches an interleaved schedule takes together"),
        click.option(
            "--lifo", is_flag=True, default=None, help="gpipe: backward from the last micro-batch to the first"
        ),
        click.option("--recompute", type=click.Choice(list(MODES)), help="what is run again before the backward"),
        click.option("--layers", type=LayersType(), help="layers in each stage, such as 5,5,5,3"),
        click.option(
            "--vocabulary", type=click.Choice(list(VOCABULARY)), help=_each("where the output layer is", PLACES)
        ),
        click.option("--offload", type=click.Choice(list(OFFLOAD)), help=_each("what goes to host memory", OFFLOAD)),
        click.option("--shared-link", is_flag=True, default=None, help="two devices share one link to host memory"),
        click.option("--weights", type=float, help="memory of a stashed weight version (pipedream), as --memory"),
        click.option("--f", "F", type=CostType(), help="forward time of a device's share, or one number a stage"),
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


def spec_data(given: dict[str, Any]) -> dict[str, Any]:
    """The spec as JSON from a command's options, those not given left out."""
    data = {key: value for key, value in given.items() if value is not None}
    costs = {key: data.pop(key) for key in COST_KEYS if key in data}
    return data | ({"costs": costs} if costs else {})


seconds_option = click.option(
    "--seconds",
    type=click.FloatRange(0.0, 3600.0),
    default=SECONDS,
    show_default=True,
    help="how long to search, where the order is sought and no --effort is given; 0: only construct",
)


def built(spec: Spec, seconds: float) -> tuple[Spec, Order]:
    """The order of a legal spec, and the spec that gives it again: sought for so long where the family seeks."""
    family = registry.family_of(spec)
    if family.problem is None or spec.effort is not None or seconds == 0.0:
        return spec, registry.order(spec)
    sought, order, _ = search_order(spec, family, seconds)
    return sought, order


def fail(data: dict[str, Any], error: SpecError, as_json: bool) -> NoReturn:
    """Say what is wrong, in the shape that was asked for, and leave with 2."""
    if as_json:
        click.echo(json.dumps(result.failure(data, error)))
    else:
        advice = f" (nearest legal value: {error.nearest})" if error.nearest is not None else ""
        click.echo(f"Error: {error.field}: {error.message}{advice}", err=True)
    sys.exit(2)


@click.command()
@spec_options()
@click.option("--json", "as_json", is_flag=True, help="the Result as JSON instead of a picture")
@click.option("--times", is_flag=True, help="with --json: start and end of every op")
@click.option("--columns", type=click.IntRange(10, 10_000), help="width of the picture")
@seconds_option
@click.option("--prove", is_flag=True, help="go through all orders of a small sought schedule (needs ortools)")
def show(as_json: bool, times: bool, columns: int | None, seconds: float, prove: bool, **given: Any) -> None:
    """Print the timeline of FAMILY, its figures and its law."""
    data = spec_data(given)
    try:
        spec, order = built(registry.read(data), seconds)
        proof = {}
        if prove:
            spec, order, certificate = proved(spec, registry.family_of(spec), order)
            proof = {"certificate": certificate}
        timeline = simulate(order, spec.timing, spec.v)
    except SpecError as error:
        fail(data, error, as_json)
    shape = result.describe(spec, order, timeline, times) | proof
    if as_json:
        click.echo(json.dumps(shape))
        return
    click.echo(f"{registry.family_of(spec).title}   p {spec.p}   m {spec.m}   v {spec.v}")
    click.echo("\n".join(ascii.draw(timeline, columns) + ascii.summary(shape)))


@click.command()
@click.option("--times", is_flag=True, help="start and end of every op too")
@seconds_option
def sweep(times: bool, seconds: float) -> None:
    """Read one spec a line (JSON) and print one Result a line, in order; an illegal spec gives an error line."""
    illegal = False
    for line in sys.stdin:
        if line.strip():
            shape = _answer(line, times, seconds)
            illegal = illegal or "error" in shape
            click.echo(json.dumps(shape))
    sys.exit(2 if illegal else 0)


def _answer(line: str, times: bool, seconds: float) -> dict[str, Any]:
    data: Any = None
    try:
        data = json.loads(line)
        spec, order = built(registry.read(data), seconds)
        return result.describe(spec, order, simulate(order, spec.timing, spec.v), times)
    except SpecError as error:
        return result.failure(_printable(data), error)
    except (ValueError, RecursionError) as error:
        shown = line.strip()[:80]
        return result.failure(None, SpecError("spec", shown, f"this line is not JSON: {str(error)[:120]}"))


def _printable(data: Any) -> Any:
    """The data as strict JSON has it: NaN and infinity, which Python's reader lets through, as text."""
    try:
        return json.loads(json.dumps(data, allow_nan=False))
    except ValueError:
        return repr(data)[:200]


@click.command()
@spec_options()
@click.option("--format", "form", type=click.Choice(list(FORMATS)), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="file instead of standard output")
@seconds_option
def export(form: str, output: Path | None, seconds: float, **given: Any) -> None:
    """Write FAMILY's schedule for another program."""
    data = spec_data(given)
    try:
        body = render(*built(registry.read(data), seconds), form)
    except SpecError as error:
        fail(data, error, form == "json")
    if output is None:
        click.echo(body, nl=False)
        return
    try:
        output.write_text(body)
    except OSError as error:
        raise click.FileError(str(output), error.strerror) from None


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--placement", type=click.Choice(["looped", "v"]), help="where stages live (default: what the file shows)"
)
def check(file: Path, placement: str | None) -> None:
    """Judge an order in torch's CSV: the first violation in a sentence, or its figures at unit costs."""
    try:
        order = torch_csv.read(file.read_text(), placement)
    except (OrderError, UnicodeDecodeError) as error:
        told = error.message if isinstance(error, OrderError) else "the file is not text"
        click.echo(f"{file.name}: {told}", err=True)
        sys.exit(1)
    shown = figures(simulate(order, Spec().costs, order.chunks))
    place = order.placement
    click.echo(
        f"{file.name}: a schedule of {len(order)} ops, p {order.p}, m {order.m}, {place.chunks} chunks, {place.kind}"
    )
    click.echo(
        f"at unit costs: makespan {shown.makespan:g}, bubble {shown.global_bubble.of_total:.2%} of total (global), "
        f"{shown.span_bubble.of_total:.2%} (span), peak in flight {max(peaks(order)[0].tolist())}"
    )


COMMANDS = (show, sweep, export, check)
