"""Apply options to a family: legal combinations, changes of its order, and the remaining region of its laws.

Vocabulary first (S and T among the ops), then offload (copies beside them). effective_costs.py applies options to
costs.
"""

from __future__ import annotations

from dataclasses import replace

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families import forward_only
from backend.schedule.families.family import Family
from backend.schedule.laws.law import AHEAD, Law
from backend.schedule.options import frozen, offload, streams, vocabulary
from backend.schedule.options.effective_costs import spread_layers
from backend.schedule.options.per_chunk import of_stages, over_chunks
from backend.schedule.options.sizes import SEARCHED, sizes_of
from backend.schedule.order.order import MAX_PAIR_CHUNKS, Order
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.deadlock import deadlock, in_words
from backend.schedule.spec import LIMITS, Spec, with_length

FAMILYS_OWN = {"group": None, "lifo": False, "effort": None, "seed": 1, "order": None}
MOST_TIMED = 10**11  # most ops of all orders that one search times: about half an hour
_NO_SHARDS = (
    "barriers == 0",
    message("schedule.unless_no_shards", "S and T are among the ops, and this form does not count them"),
)
_NO_STREAMS = ("streams == 0", message("schedule.unless_no_streams", "messages may wait for each other on a stream"))
_NO_LEAD = ("lead == 0", message("schedule.unless_no_lead", "recomputation begins before the gradient arrives"))
_NO_COPIES = ("copies == 0", message("schedule.unless_no_copies", "a backward may have to wait for its reload"))


def validate(spec: Spec, family: Family) -> None:
    """Raise SpecError unless the spec's options and costs go with its family and with each other."""
    for name, default in FAMILYS_OWN.items():
        if name not in family.fields and getattr(spec, name) != default:
            text = message(
                "schedule.family_has_no_such_field",
                "{family} has no {name}; leave it out",
                family=family.title,
                name=name,
            )
            raise SpecError(name, getattr(spec, name), text, nearest=default)
    if "FB" not in family.fields:
        text = message(
            "schedule.family_has_no_pairs", "{family} has no overlapped pairs; leave FB out", family=family.title
        )
        _refuse_pair_time(spec, text)
    if spec.forward_only:
        forward_only.validate(spec, family)
    _validate_frozen(spec, family)
    validate_sizes(spec)
    _validate_streams(spec)
    _validate_stages(spec, family.stages(spec))
    for name in ("recompute", "offload"):
        _validate_length(spec, name)
    if family.placement == "custom" and not isinstance(spec.recompute, str):
        text = message(
            "schedule.recompute_of_custom_chunks",
            "the chunks of this placement are not the same part of the model on every rank; recompute takes one word",
        )
        raise SpecError("recompute", list(spec.recompute), text, nearest=spec.recompute[0])
    if spec.recompute_at != "backward":
        _validate_time(spec, family)
    if spec.spared:
        _validate_spared(spec, family)
    if spec.recompute != "none":
        _validate_recompute(spec)
    if spec.vocabulary != "plain":
        _validate_vocabulary(spec, family)
    _validate_offload(spec, family)
    timed = (spec.effort or 0) * 3 * spec.p * spec.m * spec.v
    if timed > MOST_TIMED:
        nearest = MOST_TIMED // (3 * spec.p * spec.m * spec.v)
        text = message(
            "schedule.effort_too_large", "at these sizes effort is at most {nearest}", nearest=f"{nearest:,}"
        )
        raise SpecError("effort", spec.effort, text, nearest=nearest)
    if spec.weights is not None and not family.asynchronous:
        text = message(
            "schedule.one_version_of_weights",
            "{family} holds one version of its weights; weights is PipeDream's",
            family=family.title,
        )
        raise SpecError("weights", spec.weights, text, nearest=None)


def _refuse_pair_time(spec: Spec, why: Message) -> None:
    if spec.costs.FB is not None:
        raise SpecError("FB", spec.costs.FB, why)


def _validate_stages(spec: Spec, stages: int) -> None:
    """Raise SpecError for a list that is not one entry per stage, and for layers that spread costs already listed."""
    for name in ("F", "I", "W"):
        cost = getattr(spec.costs, name)
        if isinstance(cost, tuple) and len(cost) != stages:
            text = message(
                "schedule.list_needs_an_entry_per_stage",
                "{name} as a list has one entry per stage: {stages} here, not {given}",
                name=name,
                stages=stages,
                given=len(cost),
            )
            raise SpecError(name, len(cost), text, limit=stages, nearest=with_length(cost, stages))
        if isinstance(cost, tuple) and (spec.layers is not None or spec.vocabulary == "redistribute"):
            field = "layers" if spec.layers is not None else "vocabulary"
            text = message(
                "schedule.spreads_costs_of_a_list",
                "{field} spreads a device's costs over the stages, and {name} is already a list with one entry "
                "per stage",
                field=field,
                name=name,
            )
            raise SpecError(field, spec.to_json()[field], text, nearest=None if field == "layers" else "plain")
    if spec.layers is not None and len(spec.layers) != stages:
        text = message(
            "schedule.layers_need_an_entry_per_stage",
            "layers has one entry per stage: {stages} here, not {given}",
            stages=stages,
            given=len(spec.layers),
        )
        nearest = list(spread_layers(spec.layers, stages))
        raise SpecError("layers", list(spec.layers), text, limit=stages, nearest=nearest)
    if spec.layers is not None:
        text = message(
            "schedule.pair_time_with_layers", "with layers a pair's time follows from F, I and W; leave FB out"
        )
        _refuse_pair_time(spec, text)


def _validate_length(spec: Spec, name: str) -> None:
    """Raise SpecError for modes of chunks that are not one per chunk of a device."""
    modes = getattr(spec, name)
    if isinstance(modes, str) or len(modes) == spec.v:
        return
    text = message(
        "schedule.modes_need_an_entry_per_chunk",
        "{name} as a list has one word per chunk of a device: {v} here, not {given}",
        name=name,
        v=spec.v,
        given=len(modes),
    )
    nearest = spec.with_(**{name: over_chunks(modes, spec.v)}).to_json()[name]
    raise SpecError(name, list(modes), text, limit=spec.v, nearest=nearest)


def _validate_time(spec: Spec, family: Family) -> None:
    """Raise SpecError unless there is something to run ahead of a gradient, and, where that is some of it only, nothing
    else depends on which.
    """
    nearest = "ahead"
    if spec.recompute == "none":
        text = message("schedule.nothing_to_recompute", "recompute_at affects recomputation only; leave it out")
        nearest = "backward"
    elif spec.recompute_at != "bubble":
        return
    elif family.problem is not None:
        text = message("schedule.bubble_of_searched", "a search takes backwards that are alike; recompute ahead")
    elif spec.offload != "none":
        text = message("schedule.bubble_and_offload", "copies are of what every micro-batch keeps; recompute ahead")
    elif not isinstance(spec.recompute, str):
        text = message("schedule.bubble_of_all_chunks", "every chunk recomputes in the bubble; give recompute one word")
    elif spec.spared:
        text = message("schedule.bubble_spares", "in the bubble there is room for what is kept; leave spared out")
    else:
        return
    raise SpecError("recompute_at", spec.recompute_at, text, nearest=nearest)


def _validate_spared(spec: Spec, family: Family) -> None:
    """Raise SpecError unless there is something to spare, in an order that does not depend on it."""
    if spec.recompute == "none":
        text = message("schedule.nothing_to_spare", "spared affects recomputation only; leave it out")
    elif family.problem is not None:
        text = message("schedule.spared_of_searched", "a search takes backwards that are alike; leave spared out")
    elif spec.offload != "none":
        text = message("schedule.spared_and_offload", "copies are of what every micro-batch keeps; leave spared out")
    else:
        return
    raise SpecError("spared", spec.spared, text, nearest=0)


def _validate_recompute(spec: Spec) -> None:
    """Raise SpecError unless I is given as F is (what runs again is a part of F), and a pair's time is not given."""
    text = message(
        "schedule.pair_time_with_recomputation",
        "with recomputation a pair's time follows from F, I and W; leave FB out",
    )
    _refuse_pair_time(spec, text)
    if isinstance(spec.costs.F, tuple) != isinstance(spec.costs.I, tuple):
        text = message("schedule.recomputation_of_lists", "with recomputation F and I are both lists or both numbers")
        for name, cost, other in (("I", spec.costs.I, spec.costs.F), ("F", spec.costs.F, spec.costs.I)):
            if isinstance(other, tuple) and not isinstance(cost, tuple):
                raise SpecError(name, cost, text, nearest=[cost / spec.v] * len(other))


def _validate_vocabulary(spec: Spec, family: Family) -> None:
    mode = spec.vocabulary
    text = message(
        "schedule.pair_time_with_output_layer",
        "with an output layer a pair's time follows from F, I and W; leave FB out",
    )
    _refuse_pair_time(spec, text)
    if spec.barriers == 0:
        return
    if mode not in family.vocabulary:
        text = message(
            "schedule.family_takes_vocabulary",
            "{family} takes vocabulary {modes}",
            family=family.title,
            modes=["plain", "redistribute", *family.vocabulary],
        )
        raise SpecError("vocabulary", mode, text, nearest="plain")
    if spec.v > MAX_PAIR_CHUNKS:
        text = message(
            "schedule.spread_vocabulary_limits_v", "with a spread vocabulary v is at most {most}", most=MAX_PAIR_CHUNKS
        )
        raise SpecError("v", spec.v, text, limit=MAX_PAIR_CHUNKS, nearest=MAX_PAIR_CHUNKS)
    if spec.lifo:
        text = message(
            "schedule.spread_vocabulary_is_fifo", "with a spread vocabulary the backwards run first in, first out"
        )
        raise SpecError("lifo", True, text, nearest=False)


def takes_frozen(family: Family) -> bool:
    """Return whether a family's order can do without some backwards: one of single ops."""
    return not family.asynchronous and "FB" not in family.fields


def _validate_frozen(spec: Spec, family: Family) -> None:
    """Raise SpecError unless frozen stages go with the family, its stages and the other options."""
    if spec.frozen is None:
        return
    if "frozen" not in family.fields:
        text = message(
            "schedule.frozen_not_taken",
            "{family} overlaps forwards with backwards or updates after each of them, so it trains every stage; choose "
            "another schedule, such as 1f1b, interleaved or zb-h1",
            family=family.title,
        )
        raise SpecError("frozen", list(spec.frozen), text)
    stages = family.stages(spec)
    inside = [stage for stage in spec.frozen if stage < stages]
    if len(inside) == stages or len(inside) < len(spec.frozen):
        text = message(
            "schedule.frozen_stages",
            "frozen is a number of first stages, or a list of stages from 0 to {last}; at least one stage is trained",
            last=stages - 1,
        )
        raise SpecError("frozen", list(spec.frozen), text, limit=stages - 1, nearest=inside[: stages - 1] or None)
    if spec.forward_only:
        text = message("schedule.frozen_forward_only", "a forward-only schedule trains no stage; leave frozen out")
        raise SpecError("frozen", list(spec.frozen), text)


def validate_sizes(spec: Spec) -> None:
    """Raise SpecError unless there is a size for each micro-batch, and what depends on sizes has them."""
    if spec.sizes is None:
        for name in ("fixed", "injection", "replicas", "deal", "replica"):
            value, default = getattr(spec, name), getattr(Spec, name)
            if value != default:
                text = message(
                    "schedule.equal_sizes", "{name} affects micro-batches of different sizes only; leave it out",
                    name=name,
                )  # fmt: skip
                raise SpecError(name, value, text, nearest=default)
        return
    count = spec.m * spec.replicas
    if count > LIMITS["m"]:
        text = message(
            "schedule.too_many_replicas",
            "{replicas} replicas of {m} micro-batches are over the limit of {limit}",
            replicas=spec.replicas,
            m=spec.m,
            limit=LIMITS["m"],
        )
        raise SpecError("replicas", spec.replicas, text, nearest=LIMITS["m"] // spec.m)
    if spec.replica >= spec.replicas:
        text = message("schedule.no_such_replica", "replica is from 0 to {last}", last=spec.replicas - 1)
        raise SpecError("replica", spec.replica, text, limit=spec.replicas - 1, nearest=spec.replicas - 1)
    if spec.deal != "given" and spec.replicas == 1:
        text = message("schedule.nothing_to_deal", "deal affects several replicas only; leave it out")
        raise SpecError("deal", spec.deal, text, nearest="given")
    found = sizes_of(spec.sizes, count)
    if len(found) != count:
        text = message(
            "schedule.sizes_need_an_entry_per_micro_batch",
            "sizes has one entry per micro-batch of each replica: {m} here, not {given}",
            m=count,
            given=len(found),
        )
        raise SpecError("sizes", len(found), text, limit=count, nearest=with_length(found, count))
    if spec.injection == SEARCHED and spec.replicas > 1:
        text = message("schedule.entry_of_one_replica", "the order of entry is searched for one replica; use mountain")
        raise SpecError("injection", spec.injection, text, nearest="mountain")
    if not isinstance(spec.injection, str) and len(spec.injection) != spec.m:
        text = message(
            "schedule.injection_needs_every_micro_batch",
            "injection names each of the {m} micro-batches once, not {given}",
            m=spec.m,
            given=len(spec.injection),
        )
        raise SpecError("injection", len(spec.injection), text, limit=spec.m, nearest="mountain")


def _validate_streams(spec: Spec) -> None:
    """Raise SpecError where there are no streams for what depends on them."""
    if spec.streams != "none":
        return
    given = {"receives": spec.receives, "wire": spec.costs.wire}
    for name, default in {"receives": Spec.receives, "wire": Costs.wire}.items():
        if given[name] != default:
            text = message(
                "schedule.without_streams", "{name} affects messages on streams only; choose streams, or leave it out",
                name=name,
            )  # fmt: skip
            raise SpecError(name, given[name], text, nearest=default)


def _validate_offload(spec: Spec, family: Family) -> None:
    if spec.offload == "none":
        if spec.shared_link:
            text = message("schedule.shared_link_without_offload", "shared_link affects offload only; leave it out")
            raise SpecError("shared_link", True, text, nearest=False)
        return
    if "offload" not in family.fields:
        text = message(
            "schedule.family_cannot_offload",
            "{family} keeps its activations on the device; choose a schedule whose backwards run first in, first out, "
            "such as 1f1b, interleaved or gis",
            family=family.title,
        )
        raise SpecError("offload", spec.offload, text, nearest="none")
    if spec.barriers:
        text = message(
            "schedule.offload_with_spread_vocabulary",
            "offload and an output layer spread over the devices do not go together; use one of the two",
        )
        raise SpecError("offload", spec.offload, text, nearest="none")
    _validate_offload_of_recomputed(spec)
    if spec.shared_link and spec.p % 2:
        text = message("schedule.shared_link_of_odd_p", "pairs of devices share a link, and p = {p} is odd", p=spec.p)
        raise SpecError("shared_link", True, text, nearest=False)


def _validate_offload_of_recomputed(spec: Spec) -> None:
    """Raise SpecError for a chunk that is both recomputed in full and offloaded."""
    copied = offload.modes_of_chunks(spec.offload, spec.v)
    recomputed = [mode == "full" for mode in of_stages(spec.recompute, spec.v)]
    kept = tuple("none" if again else mode for mode, again in zip(copied, recomputed, strict=True))
    if kept == copied:
        return
    text = message(
        "schedule.offload_with_full_recomputation",
        "full recomputation keeps only each layer's input, too little to offload; use one of the two",
    )
    raise SpecError("offload", spec.to_json()["offload"], text, nearest=spec.with_(offload=kept).to_json()["offload"])


def _base_order(spec: Spec, family: Family) -> Order:
    """Build the order of a legal spec without what its options place by the costs: S and T of an output layer that is
    spread over the ranks, and copies.
    """
    if spec.vocabulary == "interlaced":
        return vocabulary.interlaced(spec.p, spec.m)
    if not spec.barriers:
        built = family.order(spec)
        return forward_only.forwards(built) if spec.forward_only else built
    whole = replace(spec.costs, S=None, T=None)
    longer = family.order(spec.with_(m=spec.m + spec.barriers, vocabulary="plain", costs=whole))
    return vocabulary.ahead(longer, spec.m, spec.barriers)


def order(spec: Spec, family: Family) -> Order:
    """Build the order of a legal spec with its options.

    The page does the same (static/js/core/options).
    """
    return completed(spec, _base_order(spec, family))


def completed(spec: Spec, built: Order) -> Order:
    """Return an order of the spec without the ops that frozen stages do not need, with S and T of an output layer that
    is spread among its ops, with the copies of its offload option, and with its messages on streams.
    """
    built = built if spec.frozen is None else frozen.without(built, spec.frozen)
    if spec.vocabulary in vocabulary.SPREAD:
        built = vocabulary.insert(built, spec.mean_timing, spec.v, spec.barriers)
    if spec.offload != "none":
        built = offload.with_offload(built, spec.mean_timing, spec.v, spec.offload)
    return on_streams(spec, built)


def on_streams(spec: Spec, built: Order) -> Order:
    """Return a spec's order with its messages on streams, if there are any. Raises SpecError for receives that
    deadlock.
    """
    if spec.streams == "none":
        return built
    built = streams.with_messages(built, spec.timing, spec.v, spec.streams, spec.receives)
    waits = deadlock(built) if spec.receives == "deferred" else []
    if waits:
        text = message(
            "schedule.receives_deadlock",
            "{deadlock}, where a message is larger than the library's buffer; choose more streams, or place receives",
            deadlock=in_words(waits),
        )
        raise SpecError("receives", spec.receives, text, nearest="placed")
    return built


def with_options(family: Family) -> Family:
    """Return the family with each law's region reduced to specs in which no option changes the law's quantity, and
    with the field and the laws of its forward-only schedule."""
    laws = family.laws
    if family.vocabulary:
        laws = tuple(_plus(law, _NO_SHARDS) if law.when is None and not law.shards else law for law in laws)
    if "offload" in family.fields:
        laws = tuple(law if law.quantity == "peak" else _plus(law, _NO_COPIES) for law in laws)
    laws = tuple(law if law.quantity == "peak" or law.when == AHEAD else _under(law, _NO_LEAD) for law in laws)
    if takes_frozen(family):
        family = replace(family, fields=(*family.fields, "frozen"))
    family = forward_only.with_forward_only(replace(family, laws=laws))
    on_streams = (law if law.quantity == "peak" else _plus(law, _NO_STREAMS) for law in family.laws)
    return replace(family, laws=tuple(on_streams))


def _under(law: Law, condition: tuple[str, str]) -> Law:
    """Return the law with a condition before its own."""
    return replace(law, where=(condition, *law.where))


def _plus(law: Law, condition: tuple[str, str]) -> Law:
    return replace(law, where=(*law.where, condition))
