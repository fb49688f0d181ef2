"""The hosts of a cluster: their free resources, the resources that a run's ranks need, and the order of ranks on
hosts.

Reads Ray's list; of the hosts themselves it checks only whether they accept connections. Does not import Ray.
"""

from __future__ import annotations

import math
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

from backend.errors import message
from runner.devices import Machine
from runner.engines.base import RankRequest

HEAD = "node:__internal_head__"
PONG_S, PINGS = 0.5, 32  # for an answer to a ping, and how many there are at a time
EXACT = 8  # hosts, up to which every order of them is tried
CPU, GPU, MEMORY = "CPU", "GPU", "memory"


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the cluster.

    `key` is Ray's id of it, a new one after each start; `total` and `free` use Ray's names of resources; its part of
    Ray listens on `port`.
    """

    key: str
    name: str
    address: str
    alive: bool
    head: bool
    total: Mapping[str, float]
    free: Mapping[str, float]
    why: str = ""
    port: int = 0

    def as_dict(self, ranks: Sequence[int]) -> dict[str, Any]:
        """Return the host as the protocol has it, with the ranks that run on it."""
        kinds = {"cpus": CPU, "gpus": GPU, "memory": MEMORY}
        have = {name: {"total": _tidy(self.total.get(kind, 0)), "free": _tidy(self.free.get(kind, 0))}
                for name, kind in kinds.items()}  # fmt: skip
        found = {"name": self.name, "address": self.address, "alive": self.alive, "head": self.head, **have}
        return found | {"ranks": list(ranks)} | ({"why": self.why} if self.why else {})


def read_hosts(nodes: Sequence[Mapping[str, Any]], free: Mapping[str, Mapping[str, float]]) -> list[Host]:
    """Read the hosts that Ray lists, each with a unique name, the head first. A dead one is listed until it is back."""
    alive = [node for node in nodes if node["Alive"]]
    here = {node["NodeManagerAddress"] for node in alive}
    gone = {node["NodeManagerAddress"]: node for node in nodes if node["NodeManagerAddress"] not in here}
    names = Counter(node["NodeManagerHostname"] for node in (*alive, *gone.values()))
    found: list[Host] = []
    for node in (*alive, *gone.values()):
        name, address = node["NodeManagerHostname"], node["NodeManagerAddress"]
        if names[name] > 1:
            name = f"{name} ({address})"
        twins = sum(one.name.split(" #")[0] == name for one in found)  # several on one machine
        total = node["Resources"] if node["Alive"] else {}
        key, why = node["NodeID"], node.get("DeathReasonMessage", "")
        name += f" #{twins + 1}" if twins else ""
        port = node.get("NodeManagerPort", 0)
        found.append(Host(key, name, address, node["Alive"], HEAD in total, total, free.get(key, {}), why, port))
    return sorted(found, key=lambda host: (not host.alive, not host.head, host.name, host.key))


def machine_of(hosts: Sequence[Host]) -> Machine:
    """Return all hosts together as one machine."""
    total = {kind: sum(host.total.get(kind, 0.0) for host in hosts if host.alive) for kind in (CPU, GPU, MEMORY)}
    return Machine(max(1, int(total[CPU])), int(total[GPU]), int(total[MEMORY]), shares=False)


def bundle(request: RankRequest, hosts: Sequence[Host]) -> dict[str, float]:
    """Return the resources of each rank: a GPU, and a core or, where ranks outnumber the cores, an equal share."""
    cores = sum(host.total.get(CPU, 0.0) for host in hosts if host.alive)
    share = 1.0 if request.ranks <= cores else math.floor(1000 / math.ceil(request.ranks / max(1.0, cores))) / 1000
    return {CPU: share} | ({GPU: 1.0} if request.device == "cuda" else {})


def well_spread(request: RankRequest, used: set[str], hosts: Sequence[Host], emptying: bool = False) -> bool:
    """Return whether ranks that are to be spread are on as many hosts as have room for one, or will have it where
    hosts are `emptying`.
    """
    each = bundle(request, hosts)
    room = [
        host.key in used
        or all((host.total if emptying else host.free).get(kind, 0.0) >= need for kind, need in each.items())
        for host in hosts
        if host.alive
    ]
    return request.spread != "spread" or len(used) >= min(request.ranks, sum(room))


def missing(request: RankRequest, each: Mapping[str, float], hosts: Sequence[Host]) -> str:
    """Return a sentence on what a run waits for; empty where there is room for it."""
    alive = [host for host in hosts if host.alive]
    room = {
        host.name: min(int(host.free.get(kind, 0.0) / need + 1e-6) for kind, need in each.items()) for host in alive
    }
    places = min(request.ranks, sum(room.values()))
    if places == request.ranks:
        return ""
    needs = _amounts(f"{need:g} {kind}" for kind, need in each.items())
    free = [
        f"{host.name} " + _amounts(f"{host.free.get(kind, 0):g}/{host.total.get(kind, 0):g} {kind}" for kind in each)
        for host in alive
        if host.total.get(CPU, 0.0)
    ]
    if not free:
        return message(
            "runner.no_places_at_all",
            "{places} of {ranks} ranks have a place; each needs {needs}; no host has any",
            places=places,
            ranks=request.ranks,
            needs=needs,
        )
    return message(
        "runner.too_few_places",
        "{places} of {ranks} ranks have a place; each needs {needs}; free: {free}",
        places=places,
        ranks=request.ranks,
        needs=needs,
        free=free,
    )


def _amounts(each: Iterable[str]) -> str:
    """Format amounts of resources, the same in every language."""
    return " + ".join(each)


def silent_hosts(hosts: Sequence[Host]) -> list[Host]:
    """Return the hosts that Ray takes to be alive but that accept no connection; all are pinged at the same time.

    A host that has just died is alive to Ray for some seconds more, and a placement on such a host delays every
    placement of the cluster for minutes (seen with Ray 2.60), so that it is excluded beforehand.
    """
    alive = [host for host in hosts if host.alive and host.port]
    with ThreadPoolExecutor(max(1, min(PINGS, len(alive)))) as threads:
        answers = list(threads.map(_answers, alive))
    return [host for host, answer in zip(alive, answers, strict=True) if not answer]


def _answers(host: Host) -> bool:
    try:
        socket.create_connection((host.address, host.port), PONG_S).close()
    except OSError:
        return False
    return True


def shortest_way(between: Sequence[Sequence[float]]) -> list[int]:
    """Return the order of hosts with the least sum of latencies between neighbours; `between` is (hosts, hosts). Up to
    EXACT hosts every order is tried; with more, each host is followed by the nearest one left, from the best first
    one."""
    count = len(between)

    def length(way: Iterable[int]) -> float:
        return sum(between[one][other] for one, other in pairwise(way))

    if count <= EXACT:
        return list(min(permutations(range(count)), key=length))
    ways = []
    for first in range(count):
        way, left = [first], set(range(count)) - {first}
        while left:
            way.append(min(left, key=lambda host: between[way[-1]][host]))
            left.remove(way[-1])
        ways.append(way)
    return min(ways, key=length)


def _tidy(amount: float) -> float | int:
    """Round off the errors of adding parts of cores."""
    amount = round(amount, 3)
    return int(amount) if amount == int(amount) else amount
