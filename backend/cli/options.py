"""Options that commands share: a spec from options, how long to search, and leaving with an error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from backend.address.query import PER_MICRO_BATCH, list_of, sized_of
from backend.config import PROJECT, Config, ConfigError
from backend.errors import Message, RequestError, message
from backend.runs.run_series import RunnerGoneError, Series
from backend.schedule import result
from backend.schedule.families import registry
from backend.schedule.families.searched import search_order
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB, DeviceMemory, StepUnits
from backend.schedule.interop.ascii import ROUNDING
from backend.schedule.interop.megatron_layout import StageLayout, is_layout, read_layout, with_layout
from backend.schedule.options.family_names import canonical
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.options.recompute import TIMES
from backend.schedule.options.sizes import DEALS
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.messages import RECEIVES, STREAMS
from backend.schedule.order.order import Order
from backend.schedule.search.improve import SECONDS
from backend.schedule.spec import COST_KEYS, Spec

F = TypeVar("F", bound=Callable[..., Any])


class ListType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """One entry, or entries separated by commas, one per stage or chunk, with runs as in a link: 34*2 is 34 stages of
    2. `always`: a list even of one; `layout`: or a layout of Megatron-LM.
    """

    def __init__(
        self, name: str, entry: Callable[[str], Any], wanted: str = "", always: bool = False, layout: bool = False
    ) -> None:
        self.name, self.wanted, self._entry, self._always, self._layout = name, wanted, entry, always, layout

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; the spec checks the range and the number of entries."""
        if not isinstance(value, str):
            return value
        try:
            if self._layout and is_layout(value):
                return read_layout(value)
            if self.name in PER_MICRO_BATCH:
                return sized_of(self.name, value)
            found = list_of((param and param.name) or self.name, value, lambda _, text: self._entry(text))
        except RequestError as error:
            self.fail(error.message, param, ctx)
        except ValueError:
            self.fail(f"{value!r} is not {self.wanted}", param, ctx)
        return [found] if self._always and not isinstance(found, list) else found


COSTS = ListType("number[,number...]", float, "a number, nor numbers separated by commas")
LAYERS = ListType("count,...", int, "whole numbers separated by commas", always=True, layout=True)
STAGES = ListType("count|stage,...", int, "a whole number, nor whole numbers separated by commas")
MODES = ListType("word[,word...]", str)
SIZES, INJECTION = ListType("sizes", str), ListType("injection", str)


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


def _modes_option(name: str, words: Iterable[str], meaning: str) -> Callable[[F], F]:
    """Describe an option that is one word for all chunks of a device, or a word per chunk."""
    return click.option(
        f"--{name}",
        type=MODES,
        metavar=f"[{'|'.join(words)}][,...]",
        help=f"{meaning}; full,none: chunk by chunk",
    )


PLACES = {name: place.summary for name, place in VOCABULARY.items()}


def _choices(what: str, meanings: dict[str, str]) -> str:
    """Describe a choice and each of its values."""
    return f"{what}; " + "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


def spec_options(optional: bool = False, several: bool = False, family: bool = True) -> Callable[[F], F]:
    """Add the options of a spec to a command; only those given are passed on: defaults are the spec's own."""
    named = [click.argument("family", required=not optional, nargs=-1 if several else 1)] if family else []
    return all_of(
        *named,
        click.option("-p", type=int, help="devices (default 4)"),
        click.option("-m", type=int, help="micro-batches a step (default 8)"),
        click.option("-v", type=int, help="model chunks per device"),
        click.option("--group", type=int, help="micro-batches an interleaved schedule takes together"),
        click.option("--lifo", is_flag=True, default=None, help="gpipe: backwards from the last micro-batch on"),
        click.option("--forward-only", is_flag=True, default=None, help="inference: forwards without backwards"),
        click.option("--frozen", type=STAGES, help="stages that are not trained: the first k, or a list such as 0,2"),
        *_recompute_options(),
        click.option(
            "--layers",
            type=LAYERS,
            help="layers in each stage, such as 5,5,5,3 or 3*5,3, or as Megatron-LM's 'Et*3|(tt|)*29,m|L'",
        ),
        click.option(
            "--sizes",
            type=SIZES,
            metavar="number,...|rule",
            help="sizes of micro-batches that differ: 1,1.2,.8 or lognormal:SIGMA:SEED or tokens:ALPHA:BETA:L,L,...",
        ),
        click.option("--fixed", type=float, help="share of an op that does not depend on the size (default 0)"),
        click.option(
            "--injection",
            type=INJECTION,
            metavar="[given|mountain|searched|micro-batch,...]",
            help="the order in which micro-batches enter",
        ),
        *_replica_options(),
        click.option(
            "--vocabulary", type=click.Choice(list(VOCABULARY)), help=_choices("where the output layer is", PLACES)
        ),
        _modes_option("offload", OFFLOAD, _choices("what goes to host memory", OFFLOAD)),
        click.option("--shared-link", is_flag=True, default=None, help="two devices share one link to host memory"),
        click.option(
            "--streams",
            type=click.Choice(list(STREAMS)),
            help=_choices("which messages of a rank share a stream", STREAMS),
        ),
        click.option("--receives", type=click.Choice(list(RECEIVES)), help=_choices("where receives are", RECEIVES)),
        click.option("--weights", type=float, help="memory of a stashed weight version (pipedream), as --memory"),
        click.option("--f", "F", type=COSTS, help="forward time of a device's share, or one number per stage"),
        click.option("--i", "I", type=COSTS, help="input-gradient time, likewise"),
        click.option("--w", "W", type=COSTS, help="weight-gradient time, likewise"),
        click.option("--comm", type=float, help="latency of one hop between devices"),
        click.option("--wire", type=float, help="time for which a message occupies its streams"),
        click.option("--fb", "FB", type=float, help="time of an overlapped pair (default F + I + W)"),
        click.option("--s", "S", type=float, help="time of a device's shard of the output layer (default F / 4)"),
        click.option("--t", "T", type=float, help="time of that shard's gradients (default F / 2)"),
        click.option("--o", "O", type=float, help="time of one copy of a device's share (default (F + I + W) / 2)"),
        click.option("--r", "R", type=float, help="time that recomputation adds to a device's I (default a part of F)"),
        click.option("--effort", type=int, help="orders to time in a search: the same effort gives the same order"),
        click.option("--seed", type=int, help="seed of a search"),
        click.option("--order", help="imported: the order itself, packed as in a link"),
        click.option("--memory", type=float, help="memory limit in micro-batches' activations on one device"),
        click.option("--w-share", type=float, help="share of the activations that W still needs after I"),
    )


def _recompute_options() -> tuple[Callable[[F], F], ...]:
    """Return the options on activation recomputation."""
    return (
        _modes_option("recompute", RECOMPUTE, "what is run again before the backward"),
        click.option("--recompute-at", type=click.Choice(list(TIMES)), help=_choices("when it is run again", TIMES)),
        click.option("--spared", type=int, help="of the chunks that a rank holds at once, how many run nothing again"),
    )


def _replica_options() -> tuple[Callable[[F], F], ...]:
    """Return the options on data-parallel replicas whose micro-batches differ."""
    return (
        click.option("--replicas", type=int, help="data-parallel replicas, each with m of the sizes"),
        click.option("--deal", type=click.Choice(list(DEALS)), help=_choices("which replica takes which", DEALS)),
        click.option("--replica", type=int, help="the replica that is shown (default 0)"),
    )


def parallel_options(end: str = "") -> tuple[Callable[[F], F], ...]:
    """Return the options on how a stage's work and memory are shared, and on its micro-batches."""
    return (
        click.option("--seq", "sequence", type=int, help=f"sequence length{end}"),
        click.option("--micro-batch", type=int, help=f"sequences of a micro-batch{end}"),
        click.option("--efficiency", type=float,
                     help=f"share of the peak rate (default: from the shapes of the products){end}"),
        click.option("--cp", "context", type=int, help=f"devices that share each sequence{end}"),
        click.option("--ep", "expert", type=int, help=f"devices that share the experts of a layer{end}"),
        click.option("--sp/--no-sp", "sequence_parallel", default=None,
                     help=f"sequence parallelism over the tp devices (default with tp > 1){end}"),
        click.option("--fp8/--bf16", default=None, help=f"precision of the matrix products (default bf16){end}"),
        click.option("--heads/--no-heads", default=None,
                     help=f"count embedding and output layer (default){end}"),
    )  # fmt: skip


PRESET_OPTIONS = (
    "model", "machine", "tp", "data", "zero", "sequence", "micro_batch", "efficiency", "context", "expert",
    "sequence_parallel", "fp8", "heads",
)  # fmt: skip


def preset_options(command: F) -> F:
    """Add the options of a model and a machine to a command; ``preset_data`` takes their values."""
    return all_of(
        click.option("--model", help="a model: costs, tokens per second, FLOP utilisation and memory are its own"),
        click.option("--machine", help="a machine, with --model"),
        click.option("--tp", type=int, help="devices that share each stage, with --model"),
        click.option("--data", type=int, help="data-parallel replicas, with --model"),
        click.option("--zero", type=int, help="stage of ZeRO over the replicas, with --model"),
        *parallel_options(", with --model"),
        click.option("--set", "changes", type=SetType(), multiple=True, help="any other field of model or machine"),
    )(command)


def all_of(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Add several options to a command."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def with_changes(data: dict[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the data with the fields of --set. Raises RequestError for one that is given twice."""
    for field, value in changes:
        if field in data:
            raise RequestError(field, value, message("web.given_twice", "{field} is given twice", field=field))
        data = data | {field: value}
    return data


def preset_data(given: dict[str, Any]) -> Preset | None:
    """Take the options of a model and a machine out of a command's; None without a model. Raises RequestError."""
    changes = given.pop("changes")
    data = {key: given.pop(key) for key in PRESET_OPTIONS}
    if data["model"] is not None and isinstance(given.get("layers"), StageLayout):
        data["layers"] = given["layers"]
        given["layers"] = list(data["layers"].layers)  # of which there must be as many as stages
    data = with_layout(with_changes({key: value for key, value in data.items() if value is not None}, changes))
    if not data:
        return None
    if "model" not in data:
        key = next(iter(data))
        raise RequestError(key, data[key], without(key, "model"))
    preset = Preset.of(data)
    preset.setting()  # wrong fields are refused even where no schedule is priced
    return preset


def without(key: str, other: str) -> Message:
    """Return why an option is refused that only changes something beside another one."""
    return message("web.needs_option", "{key} means nothing without --{other}", key=key, other=other)


def unit_lines(units: StepUnits | None) -> list[str]:
    """Return the figures of a step with a model and a machine."""
    if units is None:
        return []
    return [
        f"{units.rate:,.0f} tokens/s ({units.span['tokens_per_second']:,.0f} in the busiest device's window), "
        f"MFU {units.mfu:.1%}, {units.devices} devices",
        fit_text(units.memory),
    ]


def command_line(command: click.Command, values: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line from values by their parameters' names, None left out; fields of a model or
    machine without an option of their own are set by --set.
    """
    params = {param.name: param for param in command.params}
    words: list[str] = [command.name or ""]
    for name, value in values.items():
        if value is None:
            continue
        param = params.get(name)
        if param is None:
            words += ["--set", f"{name}={json.dumps(value)}"]
        elif isinstance(param, click.Argument):
            words.append(str(value))
        elif isinstance(value, bool):
            words.append((param.opts if value else param.secondary_opts)[0])
        else:
            words += [param.opts[0], f"{value:g}" if isinstance(value, float) else str(value)]
    return words


TIMES_OF = {"O": "offload", "R": "recompute"}  # times that only these options take
UNIT_HEAD = ["tokens/s", "(span)", "MFU", "GB", "fits"]


def unit_cells(units: dict[str, Any] | None) -> list[str]:
    """Return the columns ``UNIT_HEAD`` of a step's figures, as in their JSON."""
    if units is None:
        return ["-"] * len(UNIT_HEAD)
    memory = units["memory"]
    fits = "yes" if memory["fits"] else f"no, {memory['limit'] / GB:.4g} GB"
    rates = [f"{each['tokens_per_second']:,.0f}" for each in (units, units["span"])]
    return [*rates, f"{units['mfu']:.1%}", f"{memory['most'] / GB:.4g}", fits]


def over_limit(title: str, limit: float | None, held: float) -> list[str]:
    """Return a line where a schedule holds more than the memory limit that is set."""
    over = limit is not None and held > limit + ROUNDING
    return [f"{title} holds {held:.4g}, above the memory limit of {limit:g}."] if over else []


def fit_text(memory: DeviceMemory) -> str:
    """Return whether the fullest device fits, with its memory."""
    verdict = "fits" if memory.fits else "does not fit"
    return f"{verdict}: {memory.most / GB:.4g} GB of {memory.limit / GB:.4g} GB on device {memory.rank}"


def spec_data(given: dict[str, Any]) -> dict[str, Any]:
    """Return the spec as JSON from a command's options, those not given left out. Raises RequestError for the time of
    an option that is not given.
    """
    data = {key: value for key, value in given.items() if value is not None}
    if isinstance(data.get("family"), str):
        data["family"] = canonical(data["family"])
    if isinstance(data.get("layers"), StageLayout):
        data["layers"] = list(data["layers"].counts)
    costs = {key: data.pop(key) for key in COST_KEYS if key in data}
    for key, option in TIMES_OF.items():
        if key in costs and set(modes if isinstance(modes := data.get(option, "none"), list) else [modes]) == {"none"}:
            raise RequestError(key, costs[key], without(key, option))
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
        click.echo(f"Error: {error.in_full}", err=True)
    sys.exit(2)


@contextmanager
def failing(data: dict[str, Any], as_json: bool) -> Iterator[None]:
    """Leave with a RequestError about this data as `fail` does."""
    try:
        yield
    except RequestError as error:
        fail(data, error, as_json)


@contextmanager
def reported(*kinds: type[Exception]) -> Iterator[None]:
    """Leave with an error of these kinds as a sentence and exit code 1."""
    try:
        yield
    except kinds as error:
        raise click.ClickException(str(error)) from None


def config() -> Config:
    """Return the settings in the environment, or leave with the sentence on an illegal one."""
    with reported(ConfigError):
        return Config.from_env()


@contextmanager
def runner() -> Iterator[Series]:
    """Start a runner for the runs of a command, and end it with the context."""
    with reported(RunnerGoneError), Series(config().runner, str(PROJECT)) as series:
        yield series


def write_file(path: Path, body: str | bytes) -> None:
    """Write a file, or leave with the reason why it cannot be written."""
    try:
        path.write_bytes(body.encode() if isinstance(body, str) else body)
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None
