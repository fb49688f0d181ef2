"""Reads packed links of the first format (``z=...`` without a leading point): published links must open for good.

An arithmetic coder whose bits six mixed context models predict, in integers only; every number here is the format and
stays. static/js/core/state/arithmetic_code.js reads the same; packed.py reads today's format.
"""

from __future__ import annotations

import base64
import copy
import re
from array import array
from functools import cache

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
FORM = re.compile(r"[A-Za-z0-9_-]{3,2048}", re.ASCII)
BITS, SLOTS, CONTEXTS, COUNT_LIMIT, FIRST_WEIGHT, RATE = 7, 65_536, 6, 250, 14_000, 14
MOST_CHARACTERS = 4096  # characters that are read here: the page reads more, but has one reader to wait for it
# fmt: off
CURVE = (1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901,
         3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094)
# fmt: on
PRIMER = (
    "family=zb-h1&p=8&m=32&v=2&group=8&memory=2.5&w_share=0.4324&lifo=true&recompute=selective&layers=62*"
    "2,1&vocabulary=parallel-1&offload=full&shared_link=true&weights=0.5&effort=4096&seed=7&F=1.5,62*1,1."
    "5&I=18.09,9.337,64.123,71.234&W=54.12,0.601&comm=0.25&FB=46.1&S=0.25&T=0.5&O=22.1&b.family=interleav"
    "ed-zb&b.p=16&b.m=64&b.v=4&b.memory=none&b.F=1&b.I=1&b.W=1&b.comm=0&c.family=v-half&c.p=32&d.family=1"
    "f1b&m.model=llama3-70b&m.machine=h100&m.tp=8&m.efficiency=0.45&m.heads=1&m.sequence=8192&m.micro_bat"
    "ch=2&m.layers=2*39&m.hidden=5120&m.attn=40&m.kv=none&m.ffn=13824&m.vocab=152064&m.active=3.5e8&m.sto"
    "red=1e9&m.gated=1&m.flash=0&m.flops=4e14&m.memory=8e10&m.hbm=2e12&m.intra=2e11&m.inter=2.5e10&m.host"
    "=5e10&m.intra_s=1.5e-6&m.inter_s=1e-5&m.node=4&m.off=1&t0=3.25&t1=9.5&at=4.25&sel=2F5@3&theme=dark&t"
    "ab=compare&run=0f3a9c2e&families=-gpipe,dualpipe&mem=1&chart=pareto:bubble&crit=1&micro=3&lane=comm&"
    "story=ranks&area=12-30@0-3&marks=3,10.5&pin=0,7&lang=zh&order="
)


def squash(x: int) -> int:
    """Return 4096 / (1 + exp(-x / 256)), interpolated between integers."""
    if x > 2047:
        return 4095
    if x < -2047:
        return 1
    at = x // 128 + 16
    part = x - (at - 16) * 128
    return (CURVE[at] * (128 - part) + CURVE[at + 1] * part + 64) // 128


def _stretch() -> list[int]:
    """Return the inverse of squash for every probability."""
    table = [2047] * 4096
    begin = 0
    for x in range(-2047, 2048):
        end = squash(x)
        table[begin : end + 1] = [x] * (end + 1 - begin)
        begin = max(begin, end + 1)
    return table


STRETCH = _stretch()


def _char_class(char: int) -> int:
    return 48 if 48 <= char <= 57 else char


class Model:
    """Predicts the next bit from the characters before it."""

    def __init__(self) -> None:
        self._probabilities = array("H", [32_768]) * (CONTEXTS * SLOTS)
        self._counts = bytearray(CONTEXTS * SLOTS)
        self._weights = [FIRST_WEIGHT] * (3 * CONTEXTS)
        self._slots, self._inputs, self._contexts = [0] * CONTEXTS, [0] * CONTEXTS, [0] * CONTEXTS
        self._last = [0] * 5
        self._key, self._set, self._node, self._mixed = 0, 0, 1, 0

    def predict(self) -> int:
        """Return the probability that the next bit is 1, out of 4096."""
        total = 0
        for k in range(CONTEXTS):
            slot = k * SLOTS + (self._contexts[k] + self._node * 509) % SLOTS
            self._slots[k] = slot
            self._inputs[k] = STRETCH[self._probabilities[slot] // 16]
            total += self._inputs[k] * self._weights[self._set + k]
        self._mixed = squash(total // 65_536)
        return self._mixed

    def update(self, bit: int) -> None:
        """Train the model on the bit that came."""
        error = (bit * 4096 - self._mixed) * RATE
        for k in range(CONTEXTS):
            self._weights[self._set + k] += (self._inputs[k] * error + 32_768) // 65_536
            slot = self._slots[k]
            probability = self._probabilities[slot]
            step = ((65_535 - probability if bit else probability) * 2) // (2 * self._counts[slot] + 3)
            self._probabilities[slot] = probability + step if bit else probability - step
            self._counts[slot] = min(self._counts[slot] + 1, COUNT_LIMIT)
        self._node = self._node * 2 + bit
        if self._node >= 1 << BITS:
            self._start_character(self._node - (1 << BITS))

    def _start_character(self, char: int) -> None:
        """Compute the contexts of the next character; ``char`` is the one that ended."""
        self._node = 1
        self._last = [char, *self._last[:4]]
        a, b, c, d, e = self._last
        if char == ord("&"):
            self._key = 0
        elif char == ord("="):
            self._key += 1000
        elif self._key < 1000:
            self._key = (self._key * 31 + char) % 997
        shape = _char_class(a)
        for each in (b, c, d, e):
            shape = (shape * 37 + _char_class(each)) % SLOTS
        near = (_char_class(a) * 128 + _char_class(b)) * 3 + 1
        words = (a * 131, (a * 131 + b) * 127, ((a * 131 + b) * 127 + c) * 113)
        shapes = (near * 7, shape * 11 + 5, (self._key * 128 + _char_class(a)) * 17 + 3)
        self._contexts = [(context * 2 + k) % SLOTS for k, context in enumerate((*words, *shapes))]
        self._set = CONTEXTS * (0 if _char_class(a) == 48 else 1 if chr(a) in ",.*" else 2)


@cache
def _trained() -> Model:
    """Return a model that was trained on PRIMER; to be copied."""
    model = Model()
    for char in PRIMER.encode():
        for k in range(BITS - 1, -1, -1):
            model.predict()
            model.update(char >> k & 1)
    return model


def unpack_arithmetic(packed: str) -> str | None:
    """Return the text of a link of the first format; None if it is malformed or truncated."""
    if not FORM.fullmatch(packed):
        return None
    body = packed[2:] if len(packed) % 4 != 3 else packed[2:-1]  # a single last character holds no byte
    code = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    model = copy.deepcopy(_trained())
    low, high, at = 0, 0xFFFFFFFF, 4
    value = int.from_bytes(code[:4].ljust(4, b"\0"), "big")
    text, node = "", 1
    while len(text) <= MOST_CHARACTERS and at < len(code) + 8:
        middle = low + (high - low) * model.predict() // 4096
        bit = int(value <= middle)
        low, high = (low, middle) if bit else (middle + 1, high)
        model.update(bit)
        while low >> 24 == high >> 24:
            low, high = low << 8 & 0xFFFFFFFF, high << 8 & 0xFFFFFFFF | 255
            value = value << 8 & 0xFFFFFFFF | (code[at] if at < len(code) else 0)
            at += 1
        node = node * 2 + bit
        if node == 1 << BITS:  # the end
            return text if checksum(text) == packed[:2] else None
        if node > 1 << BITS:
            text += chr(node - (1 << BITS))
            node = 1
    return None


def checksum(text: str) -> str:
    """Return twelve bits in two characters."""
    total = 7
    for char in text:
        total = (total * 31 + ord(char)) % 4093
    return ALPHABET[total // 64] + ALPHABET[total % 64]
