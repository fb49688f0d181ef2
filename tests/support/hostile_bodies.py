"""Bodies that are small to send and large to read, as `bench/hostile.py` and the tests send them."""

from __future__ import annotations

import gzip
from functools import cache

MB = 2**20
SIZE = 31 * MB  # just under the limit of an import


def of_lists() -> bytes:
    """A body of empty lists in place of the text: each takes 56 bytes of memory."""
    return b'{"csv":[' + b"[]," * (SIZE // 3) + b"[]]}"


def of_keys() -> bytes:
    """A body with two million keys, all different."""
    return b"{" + b",".join(b'"%x":1' % k for k in range(SIZE // 12)) + b"}"


def of_cells() -> bytes:
    """A CSV with eight million times the same op."""
    return b'{"csv":"' + b"0F0," * (SIZE // 4) + b'"}'


@cache
def gzip_bomb() -> bytes:
    """A trace of 60 MB of empty objects in 60 kB."""
    return gzip.compress(b"[" + b"{}," * (20 * MB) + b"{}]", mtime=0)


ATTACKS = {
    "orders of []": ("/api/orders", of_lists),
    "orders of keys": ("/api/orders", of_keys),
    "orders of 0F0,": ("/api/orders", of_cells),
    "a gzip bomb": ("/api/runs/import", gzip_bomb),
}
"""Name -> (route, function that makes the body)."""
COSTLY = "/api/schedule?family=zb-auto&p=6&m=18&memory=4&F=18.5&I=18.1&W=9.3&effort=300000000"
"""A legal schedule that takes hours to build. A value of comm makes it another one."""
