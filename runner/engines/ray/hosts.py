"""What a cluster has: its hosts, what is free on each, what a run's ranks ask of them, and in which order they sit.

Pure: reads what Ray lists, asks nothing itself. Does not import Ray.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

from runner.devices import Machine
from runner.engines.base import RankRequest

HEAD = "node:__internal_head__"
EXACT = 8  # hosts, up to which every order of them is tried
CPU, GPU, MEMORY = "CPU", "GPU", "memory"


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the cluster; `key` is Ray's name for this life of it, `total` and `free` go by Ray's names, `port` is
    where its part of Ray listens."""

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
        """As the protocol has it."""
        kinds = {"cpus": CPU, "gpus": GPU, "memory": MEMORY}
        have = {name: {"total": _tidy(self.total.get(kind, 0)), "free": _tidy(self.free.get(kind, 0))}
                for name, kind in kinds.items()}  # fmt: skip
        found = {"name": self.name, "address": self.address, "alive": self.alive, "head": self.head, **have}
        return found | {"ranks": list(ranks)} | ({"why": self.why} if self.why else {})


def read_hosts(nodes: Sequence[Mapping[str, Any]], free: Mapping[str, Mapping[str, float]]) -> list[Host]:
    """The hosts that Ray lists, each with a name of its own, the head first. A dead one is listed until it is back."""
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
    """All of them as one machine."""
    total = {kind: sum(host.total.get(kind, 0.0) for host in hosts if host.alive) for kind in (CPU, GPU, MEMORY)}
    return Machine(max(1, int(total[CPU])), int(total[GPU]), int(total[MEMORY]), shares=False)


def bundle(ask: RankRequest, hosts: Sequence[Host]) -> dict[str, float]:
    """What each rank asks for: a GPU, and a core; where ranks outnumber the cluster's cores, the like part of one."""
    cores = sum(host.total.get(CPU, 0.0) for host in hosts if host.alive)
    share = 1.0 if ask.ranks <= cores else math.floor(1000 / math.ceil(ask.ranks / max(1.0, cores))) / 1000
    return {CPU: share} | ({GPU: 1.0} if ask.device == "cuda" else {})


def well_spread(ask: RankRequest, used: set[str], hosts: Sequence[Host]) -> bool:
    """Whether ranks that are to be spread sit on as many hosts as have room for one."""
    each = bundle(ask, hosts)
    room = [
        host.key in used or all(host.free.get(kind, 0.0) >= need for kind, need in each.items())
        for host in hosts
        if host.alive
    ]
    return ask.spread != "spread" or len(used) >= min(ask.ranks, sum(room))


def missing(ask: RankRequest, each: Mapping[str, float], hosts: Sequence[Host]) -> str:
    """What a run waits for, in words; nothing where there is room for it."""
    alive = [host for host in hosts if host.alive]
    room = {
        host.name: min(int(host.free.get(kind, 0.0) / need + 1e-6) for kind, need in each.items()) for host in alive
    }
    places = min(ask.ranks, sum(room.values()))
    if places == ask.ranks:
        return ""
    asked = " and ".join(f"{need:g} {kind}" for kind, need in each.items())
    has = [
        f"{host.name} "
        + " and ".join(f"{host.free.get(kind, 0):g} of {host.total.get(kind, 0):g} {kind}" for kind in each)
        for host in alive
        if host.total.get(CPU, 0.0)
    ]
    free = ", ".join(has) if has else "no host has any"
    return f"{places} of {ask.ranks} ranks have a place; each asks for {asked}; free: {free}"


def shortest_way(between: Sequence[Sequence[float]]) -> list[int]:
    """The order of hosts in which neighbours are near each other: the least sum of latencies along it. Every order is
    tried where they are few; else each goes on to the nearest one left, from the best first one."""
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
    """Without what adding parts of cores leaves behind the comma."""
    amount = round(amount, 3)
    return int(amount) if amount == int(amount) else amount
