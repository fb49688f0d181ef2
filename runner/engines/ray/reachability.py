"""Which hosts answer. A host that has just gone is alive to Ray for some seconds more, and a placement that asks such a
host holds up every placement of the cluster for minutes (seen with Ray 2.60), so that it is left out beforehand.

Knows sockets; does not import Ray.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from runner.engines.ray.hosts import Host

ANSWER_S = 0.5
AT_ONCE = 32


def silent_hosts(hosts: Sequence[Host]) -> list[Host]:
    """Those that Ray takes to be alive although nobody there lets anybody in; all are asked at the same time."""
    alive = [host for host in hosts if host.alive and host.port]
    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(alive)))) as asking:
        answers = list(asking.map(_answers, alive))
    return [host for host, answer in zip(alive, answers, strict=True) if not answer]


def _answers(host: Host) -> bool:
    try:
        socket.create_connection((host.address, host.port), ANSWER_S).close()
    except OSError:
        return False
    return True
