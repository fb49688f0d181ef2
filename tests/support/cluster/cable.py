"""A long cable: two network devices, each of which receives the other's frames after a delay in seconds.

    python tests/support/cluster/cable.py NEAR FAR SECONDS

Creates the devices in its network namespace, prints "up", and ends when its input is closed.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF, TAP, NO_HEADER = 0x400454CA, 0x0002, 0x1000  # linux/if_tun.h
LARGEST = 65536  # bytes of a frame


def device(name: str) -> int:
    """Create a network device whose frames this process reads and writes."""
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP | NO_HEADER))
    return handle


def carry(ends: tuple[int, int], delay: float, until: int) -> None:
    """Both ways take the same time, so what is first in is first due."""
    other = dict(zip(ends, reversed(ends), strict=True))
    way: deque[tuple[float, int, bytes]] = deque()  # due time, destination and bytes of a frame
    while True:
        wait = max(0.0, way[0][0] - time.monotonic()) if way else None
        ready = select.select([*ends, until], [], [], wait)[0]
        if until in ready:
            return
        for end in ready:
            way.append((time.monotonic() + delay, other[end], os.read(end, LARGEST)))
        while way and way[0][0] <= time.monotonic():
            _, end, frame = way.popleft()
            try:
                os.write(end, frame)
            except OSError:  # nothing is plugged in there: lost, as on a cable
                continue


if __name__ == "__main__":
    near, far, seconds = sys.argv[1:]
    both = (device(near), device(far))
    print("up", flush=True)
    carry(both, float(seconds), sys.stdin.fileno())
