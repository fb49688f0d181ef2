"""What is told of a cluster and of the ranks on it: devices, seats, links, and whoever was lost.

Pure: reads what others know. Does not import Ray.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.engines.base import RankLost
from runner.engines.ray.hosts import CPU, GPU, MEMORY, Host
from runner.messages import Hop
from runner.telemetry import clock

if TYPE_CHECKING:
    from runner.engines.ray.pool import Member, Pool

SILENCE_S = 5.0  # a rank, or the cluster's head, that says nothing for so long is lost


def device_rows(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """What the hosts that are there give to runs, as the protocol has devices."""
    rows: list[dict[str, Any]] = []
    for host in hosts:
        memory = int(host.total.get(MEMORY, 0))
        if host.alive and host.total.get(CPU):
            cores = int(host.total[CPU])
            rows.append({"kind": "cpu", "name": "CPU", "cores": cores, "memory": memory, "host": host.name})
        for index in range(int(host.total.get(GPU, 0))):
            row = {"kind": "cuda", "index": index, "name": "GPU", "memory": None, "capability": None}
            rows.append(row | {"host": host.name})
    return rows


def host_rows(hosts: Sequence[Host], members: Sequence[Member]) -> list[dict[str, Any]]:
    """The hosts, each with the ranks that sit there."""
    at = [member.host.name for member in members]
    return [host.as_dict([rank for rank, name in enumerate(at) if name == host.name]) for host in hosts]


def links_of(pool: Pool, hops: Mapping[int, Sequence[Hop]]) -> list[dict[str, Any]]:
    """What ranks measured to neighbours, with the names of their hosts."""
    names = [member.host.name for member in pool.members]
    return [
        {
            "from": rank, "to": hop.peer, "hosts": [names[rank], names[hop.peer]],
            "latency_ns": hop.latency, "uncertainty_ns": hop.uncertainty,
        }
        for rank, own in sorted(hops.items())
        for hop in own
    ]  # fmt: skip


def facts_of(pool: Pool) -> dict[str, Any]:
    """Where ranks are, and what their hosts' clocks are worth."""
    names = {member.host.key: member.host.name for member in pool.members}
    clocks = [one.facts(names[key]) for key, one in pool.clocks.items() if key in names]
    worst = max(clock.uncertainty(), *(int(str(one["uncertainty_ns"])) for one in clocks))
    return {"hosts": [member.host.name for member in pool.members], "clocks": clocks, "clock_ns": worst}


def lost_of(pool: Pool, rank: int, hosts: Sequence[Host]) -> RankLost:
    """In words, and the pool is broken. Of a host that is gone, the first rank stands for all."""
    pool.broken = True
    member = pool.members[rank]
    host = next((one for one in hosts if one.key == member.host.key), member.host)
    if not host.alive:
        return RankLost(rank, f"rank {rank} on {host.name} was lost", f"host {host.name} ({host.address}) is gone")
    if member.error is None:
        why = f"nothing has come from host {host.name} ({host.address}) for {SILENCE_S:g} s"
        return RankLost(rank, f"rank {rank}'s {member.process} was lost", why)
    return RankLost(rank, f"rank {rank}'s {member.process} ended")


def own_device(name: str) -> str:
    """A rank's device by the name that its actor has for it, which sees no other GPU."""
    return "cuda:0" if name.startswith("cuda") else name
