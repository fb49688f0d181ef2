"""Specs in query strings: strict reading, and the shortest query string of a spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from decimal import Decimal
from itertools import groupby
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote_plus

from backend.errors import RequestError, message
from backend.schedule.families import imported
from backend.schedule.families.registry import family_of, read
from backend.schedule.interop.megatron_layout import is_layout, read_layout
from backend.schedule.spec import COST_KEYS, LIMITS, Spec, reject_unknown

SPEC_KEYS = tuple(key for key in Spec().to_json() if key != "costs")
KEYS = (*(key for key in SPEC_KEYS if key != "order"), *COST_KEYS, "order")  # as in a link of the page
LISTS = frozenset({"F", "I", "W", "layers", "frozen"})
PER_MICRO_BATCH = frozenset({"sizes", "injection"})  # a word or a rule, or a list with one entry per micro-batch
WORDS = frozenset({"family", "vocabulary", "recompute_at", "streams", "receives", "deal", "order"})
PER_CHUNK = frozenset({"recompute", "offload"})  # a word, or a list of words
FLAGS = frozenset({"lifo", "forward_only", "shared_link"})
TRUTHS = {"true": True, "1": True, "false": False, "0": False}
# JSON's own numbers: no spaces, underscores, hex, NaN or infinity, and short enough to read at once.
COUNT = re.compile(r"[0-9]{1,6}", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?", re.ASCII)
EFFORT = re.compile(rb"(?<![a-z_])effort=([0-9]{1,10})")
MOST_FIELDS = 64
LONG = 3000  # bytes of a query whose numbers alone take a while
MOST_ENTRIES = LIMITS["p"] * LIMITS["v"]  # of a list: one per stage
T = TypeVar("T")
ADDRESS = message("web.the_address", "the address")  # where keys were given, for errors


def spec_of(query: bytes) -> Spec:
    """Read a legal spec from a query string. Raises RequestError naming the key that is wrong."""
    return read(nested(fields_of(query, KEYS, value_of)))


def is_packed(query: bytes) -> bool:
    """Return whether a query has a part that takes long to unpack: an imported order, or a view under z.

    May be wrong the safe way, never the other: an encoded letter of a key counts as packed.
    """
    return len(query) > LONG or any(sign in query for sign in (b"order=", b"z=", b"imported", b"%"))


def fields_of(query: bytes, known: Collection[str], value: Callable[[str, str], Any]) -> dict[str, Any]:
    """Read a query string's values with ``value(key, text)``.

    Raises RequestError naming the key that is unknown, repeated or cannot be read.
    """
    data: dict[str, Any] = {}
    for key, text in pairs(query):
        reject_unknown({key: text}, known, ADDRESS)
        if key in data:
            raise RequestError(key, text, repeated(key))
        data[key] = value(key, text)
    return data


def repeated(key: str) -> str:
    """Return the sentence for a repeated key."""
    return message("web.repeated_key", "{key} is more than once in the address", key=key)


def nested(data: dict[str, Any]) -> dict[str, Any]:
    """Return a spec's fields as its JSON has them: the costs in an object of their own."""
    rest = {key: value for key, value in data.items() if key not in COST_KEYS}
    return rest | {"costs": {key: value for key, value in data.items() if key in COST_KEYS}}


def pairs(query: bytes) -> list[tuple[str, str]]:
    """Return keys and values of a query string, in order. Raises RequestError for bad UTF-8 or too many keys."""
    try:
        text = query.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise not_utf8(query) from None
    except ValueError:
        why = message("web.too_many_keys", "the address has more than {most} keys", most=MOST_FIELDS)
        raise RequestError("query", None, why, limit=MOST_FIELDS) from None


def not_utf8(query: bytes) -> RequestError:
    """Return the refusal of a query whose bytes are no text."""
    return RequestError("query", repr(query[:60]), message("web.not_utf8", "the address is not UTF-8 text"))


def efforts_of(query: bytes) -> set[int]:
    """Return the efforts of the searched orders in a query that is not packed, however wrong the rest of it is."""
    return {int(digits) for digits in EFFORT.findall(query)}


def query_of(spec: Spec) -> str:
    """Return the shortest query string for a spec, as the page writes it: what differs from the family's defaults."""
    now, plain = spec.to_json(), Spec().to_json()
    now, plain = now | now.pop("costs"), plain | plain.pop("costs")
    plain["v"] = 1 if spec.family == imported.NAME else family_of(spec).v[1]
    return "&".join(pair_of(key, now[key]) for key in KEYS if now[key] != plain[key])


def pair_of(key: str, value: Any) -> str:
    """Return a key and its value as a part of a query string."""
    return f"{key}={quote_plus(_text(value), safe=',*:')}"


def value_of(key: str, text: str) -> Any:
    """Read a spec's field from its text. Raises RequestError if it cannot be read."""
    if key in WORDS:
        return text
    if key in PER_CHUNK:
        return list_of(key, text, lambda _, word: word)
    if key in FLAGS:
        if text not in TRUTHS:
            raise RequestError(
                key, text, message("web.must_be_true_or_false", "{key} must be true or false", key=key), nearest=False
            )
        return TRUTHS[text]
    if key in PER_MICRO_BATCH:
        return sized_of(key, text)
    if key == "layers" and is_layout(text):
        return list(read_layout(text).counts)
    return list_of(key, text, number_of) if key in LISTS else number_of(key, text)


def sized_of(key: str, text: str) -> str | list[int | float]:
    """Read a word or a rule, or a list, also of one number; ``.8`` is a number too. Raises RequestError."""
    if text[:1].isalpha():
        return text
    entries = list_of(key, text, lambda name, each: number_of(name, f"0{each}" if each.startswith(".") else each))
    return entries if isinstance(entries, list) else [entries]


def list_of(key: str, text: str, entry_of: Callable[[str, str], T]) -> T | list[T]:
    """Read an entry with ``entry_of(key, text)``, or a list with one per stage or chunk.

    ``"1.5,62*1,1.5"`` has 62 ones between its ends; the page writes lists so. Raises RequestError.
    """
    if "," not in text and "*" not in text:
        return entry_of(key, text)
    entries: list[T] = []
    for part in text.split(","):
        times, star, each = part.rpartition("*")
        count = (int(times) if COUNT.fullmatch(times) else 0) if star else 1
        # Checked before the list grows: a short address must not make a long one.
        if count < 1 or len(entries) + count > MOST_ENTRIES:
            why = message(
                "web.bad_repetition",
                "{key}={text}: k*x stands for k neighbouring entries x, {most} in all at most",
                key=key, text=text[:40], most=MOST_ENTRIES,
            )  # fmt: skip
            raise RequestError(key, text, why, limit=MOST_ENTRIES)
        entries += [entry_of(key, each)] * count
    return entries


def number_of(key: str, text: str) -> int | float:
    """Read a number as JSON has it. Raises RequestError for anything else."""
    if not NUMBER.fullmatch(text):
        why = message("web.must_be_a_plain_number", "{key} must be a plain number such as 4 or 0.5", key=key)
        raise RequestError(key, text, why)
    return int(text) if text.lstrip("-").isdigit() else float(text)


def one_or_zero(key: str, text: str) -> bool:
    """Read a truth value from its text. Raises RequestError for anything else."""
    if text not in TRUTHS:
        raise RequestError(key, text, message("web.must_be_1_or_0", "{key} must be 1 or 0", key=key), nearest=0)
    return TRUTHS[text]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return _packed([_text(each) for each in value])
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number_text(value) if isinstance(value, float) else str(value)


def _number_text(x: float) -> str:
    """Return a number's shortest text, as JavaScript writes it."""
    if x == 0 or 1e-6 <= abs(x) < 1e21:
        return f"{Decimal(repr(x)):f}".removesuffix(".0")
    return repr(x).replace("e-0", "e-")


def _packed(entries: list[str]) -> str:
    """Write a list with equal neighbours as k*x where that is shorter; link_fields.ts writes the same."""
    if len(entries) == 1:
        return f"1*{entries[0]}"  # alone it would read as a plain number
    runs = ((each, len(list(run))) for each, run in groupby(entries))
    return ",".join(min(",".join([each] * count), f"{count}*{each}", key=len) for each, count in runs)
