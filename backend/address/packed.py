"""Read ``z=...``, the packed form of a query that would be too long; static/js/core/state/pack.ts writes it.

``z=.TEXT`` or ``z=.TEXT.NUMBERS``: TEXT is a checksum of two characters and the query, deflated with DICTIONARY as
preset dictionary, in base64url. A character 1 in the query marks a removed number or list of numbers; NUMBERS has
them as bits, six per character. DICTIONARY and every width here are part of the format and must never change.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from functools import lru_cache

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
FORM = re.compile(r"\.([A-Za-z0-9_-]{2})([A-Za-z0-9_-]{1,2048})(?:\.([A-Za-z0-9_-]{1,4096}))?", re.ASCII)
MOST_CHARACTERS = 65_536  # of a query, packed or not
NUMBER_TAKEN = "\x01"
COUNT, DECIMALS, SPREAD, WIDTH, DIGITS = 8, 3, 2, 6, 4  # widths in bits
DICTIONARY = (
    "&planned=1&late=1&colours=paper&hatch=1&crit=1&micro=3&lane=comm&story=0&story=ranks&marks=3,10.5&pin=0,7"
    "&lang=en&lang=zh&area=12-30@0-3&m.active=3.5e8&m.stored=1e9&m.gated=1&m.flash=0&m.flops=4e14&m.memory=8e10"
    "&m.hbm=2e12&m.intra=2e11&m.inter=5e10&m.host=5e10&m.intra_s=1.5e-6&m.inter_s=1e-5&m.node=8"
    "&m.model=llama3-70b&m.machine=a100-80&m.machine=h100&m.tp=8&m.efficiency=#&m.heads=1&m.sequence=#"
    "&m.micro_batch=2&m.layers=80&m.hidden=#&m.attn=40&m.kv=none&m.ffn=#&m.vocab=#&m.off=1&lifo=true"
    "&recompute=full&layers=62*2,1&vocabulary=redistribute&vocabulary=interlaced&offload=full&memory=none"
    "&group=none&d.comm=#&d.family=interleaved&d.p=#&d.m=#&d.v=1&d.memory=#&d.F=#&d.I=#&d.W=#&c.family=v-half"
    "&c.p=#&c.m=#&c.v=1&c.memory=#&c.F=#&c.I=#&c.W=#&b.family=dualpipev&b.p=16&b.m=64&b.v=4&b.group=8"
    "&b.memory=#&b.F=#&b.I=#&b.W=#&family=interleaved-zb&family=pipedream&family=zb-auto&family=zb-h1&p=8&m=32"
    "&p=16&m=64&p=32&m=128&v=4&v=2&group=8&memory=#&w_share=#&lifo=true&recompute=selective"
    "&vocabulary=parallel-1&offload=selective&shared_link=true&weights=#&effort=#&seed=7&p=16&F=#&I=#&W=#"
    "&comm=#&FB=#&S=#&T=#&O=#&t0=#&t1=#&at=#&sel=2F5@b&theme=light&tab=charts&tab=costs&theme=dark&tab=compare"
    "&run=0f3a9c2e&families=-gpipe,1f1b,gis,v-auto&mem=1&chart=pareto:bubble"
).replace("#", NUMBER_TAKEN)


@lru_cache(maxsize=64)
def unpack(packed: str) -> str | None:
    """Return the text of a packed form; None if it is malformed or truncated."""
    parts = FORM.fullmatch(packed)
    if parts is None:
        return None
    try:
        text = _with_numbers(_inflated(parts[2]), "".join(f"{ALPHABET.index(char):06b}" for char in parts[3] or ""))
    except (ValueError, zlib.error):
        return None
    return text if checksum(text) == parts[1] else None


def checksum(text: str) -> str:
    """Return twelve bits in two characters."""
    total = 7
    for char in text:
        total = (total * 31 + ord(char)) % 4093
    return ALPHABET[total // 64] + ALPHABET[total % 64]


def _inflated(characters: str) -> str:
    """Inflate the packed bytes. Raises ValueError or zlib.error if they are not deflated ASCII, truncated or too
    long.
    """
    deflated = base64.urlsafe_b64decode(characters + "=" * (-len(characters) % 4))
    reader = zlib.decompressobj(-zlib.MAX_WBITS, zdict=DICTIONARY.encode())
    text = reader.decompress(deflated, MOST_CHARACTERS + 1)
    if not reader.eof or len(text) > MOST_CHARACTERS:
        raise ValueError
    return text.decode("ascii")


def _with_numbers(text: str, bits: str) -> str:
    """Put the numbers back into ``text``. Raises ValueError if bits are missing."""
    at = 0

    def take(width: int) -> int:
        nonlocal at
        at += width
        if at > len(bits):
            raise ValueError
        return int(bits[at - width : at], 2) if width else 0

    return re.sub(NUMBER_TAKEN, lambda _: ",".join(_numbers(take)), text)


def _numbers(take: Callable[[int], int]) -> list[str]:
    """Read one number, or a list: ``take(width)`` returns the next bits as an integer."""
    if take(1) == 0:
        decimals = take(DECIMALS)
        digits = take(DIGITS) + 1
        return [_decimal(take((10**digits - 1).bit_length()), decimals)]
    count, least, spread, width = take(COUNT) + 1, take(DECIMALS), take(SPREAD), take(WIDTH)
    numbers = []
    for _ in range(count):
        decimals = least + take(spread)
        numbers.append(_decimal(take(width), decimals))
    return numbers


def _decimal(mantissa: int, decimals: int) -> str:
    """Format a decimal number: 585, 2 -> "5.85"; 270, 1 -> "27"."""
    if decimals == 0:
        return str(mantissa)
    digits = str(mantissa).rjust(decimals + 1, "0")
    return f"{digits[:-decimals]}.{digits[-decimals:]}".rstrip("0").rstrip(".")
