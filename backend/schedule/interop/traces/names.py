"""Read the ops of a trace from the names of its events: this program's, torch's, or those of a given pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.schedule.errors import OrderError, SpecError, message
from backend.schedule.order.ops import Op, Pair, parse

Read = Callable[[Mapping[str, Any]], Op | Pair | None]
UNKNOWN = -1  # a stage or a micro-batch that the name does not contain
TORCH_PREFIX = "PP:"
LONGEST_PATTERN = 200
LONGEST_NAME = 300  # characters of an event that a pattern searches
GROUPS = ("kind", "stage", "micro")
# What a pattern's group `kind` may find, in letters only and lower case.
KINDS = {
    "F": ("f", "fwd", "forward", "forwardstep", "forwardcompute", "fprop"),
    "I": ("i", "dgrad", "inputgrad", "backwardinput", "bwdinput"),
    "W": ("w", "wgrad", "weightgrad", "backwardweight", "bwdweight"),
    "B": ("b", "bwd", "backward", "backwardstep", "backwardcompute", "bprop"),
}
_LETTERS = {text: kind for kind, texts in KINDS.items() for text in texts}
_GPIPE = re.compile(r"(Forward|Backward) (\d{1,8})")  # ranges of torch's ScheduleGPipe, which do not name the stage
_NEIGHBOUR = re.compile(r"PP:(\d{1,6})(SEND_F|RECV_B|SEND_B|RECV_F)\d{1,8}")
_BEYOND = re.compile(r"\d{1,6}[STOR]\d{1,8}")


def reader(pattern: str | None = None) -> Read:
    """Return a function that reads the op of an event, None for another event.

    ``pattern`` is a regular expression with the named groups of GROUPS, of which only kind is required; it searches
    the name, and if that does not match, the name followed by the event's args as ` key=value`. Raises SpecError for
    another text.
    """
    if pattern is None:
        return _usual
    if not isinstance(pattern, str) or not 1 <= len(pattern) <= LONGEST_PATTERN:
        why = message(
            "schedule.trace_names_text",
            "names is a regular expression of at most {most} characters with the group (?P<kind>...), and where the "
            "names have them (?P<stage>...) and (?P<micro>...)",
            most=LONGEST_PATTERN,
        )
        raise SpecError("names", pattern if isinstance(pattern, str) else None, why)
    try:
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        why = message(
            "schedule.trace_names_pattern", "names is not a regular expression: {problem}", problem=str(error)
        )
        raise SpecError("names", pattern, why) from None
    groups = tuple(found.groupindex)
    if "kind" not in groups or not set(groups) <= set(GROUPS):
        why = message(
            "schedule.trace_names_groups",
            "the pattern's groups are {groups}; it needs (?P<kind>...), and may have (?P<stage>...) and (?P<micro>...)",
            groups=list(groups),
        )
        raise SpecError("names", pattern, why)
    return lambda event: _own(found, pattern, event)


def neighbour(name: str) -> int | None:
    """Return the stage that a message of torch's profiler comes from or goes to, None for another event."""
    found = _NEIGHBOUR.fullmatch(name)
    return None if found is None else int(found[1]) + (1 if found[2] in ("SEND_F", "RECV_B") else -1)


def is_beyond(name: str) -> bool:
    """Return whether this program writes such ops to traces but does not read them."""
    return _BEYOND.fullmatch(name) is not None


def _usual(event: Mapping[str, Any]) -> Op | Pair | None:
    name = event.get("name")
    if not isinstance(name, str):
        return None
    plain = _GPIPE.fullmatch(name)
    if plain:
        return Op(plain[1][0], UNKNOWN, int(plain[2]))
    text = name.removeprefix(TORCH_PREFIX)
    if not text or text[0] not in "0123456789(":
        return None
    try:
        return parse(text)
    except OrderError:
        return None


def _own(found: re.Pattern[str], pattern: str, event: Mapping[str, Any]) -> Op | None:
    name, args = event.get("name"), event.get("args")
    if not isinstance(name, str):
        return None
    match = found.search(name[:LONGEST_NAME])
    if match is None and isinstance(args, dict):
        more = "".join(f" {key}={value}" for key, value in args.items() if isinstance(value, int | float | str))
        match = found.search((name + more)[:LONGEST_NAME])
    if match is None:
        return None
    groups = match.groupdict()
    kind = _LETTERS.get(re.sub("[^a-z]", "", (groups["kind"] or "").lower()))
    if kind is None:
        why = message(
            "schedule.trace_names_kind",
            "the pattern's kind in {name} is {kind}; expected one of {kinds}",
            name=name[:60],
            kind=repr(groups["kind"]),
            kinds=list(_LETTERS),
        )
        raise SpecError("names", pattern, why)
    numbers = []
    for group in ("stage", "micro"):
        text = groups.get(group)
        if text is not None and not (text.isascii() and text.isdigit() and len(text) <= 6):
            why = message(
                "schedule.trace_names_number",
                "the pattern's {group} in {name} is {text}, not a number of at most six digits",
                group=group,
                name=name[:60],
                text=repr(text),
            )
            raise SpecError("names", pattern, why)
        numbers.append(UNKNOWN if text is None else int(text))
    return Op(kind, *numbers)
