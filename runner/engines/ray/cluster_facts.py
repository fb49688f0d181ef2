"""The protocol's facts about a cluster and its ranks: devices, hosts, links, clocks, and lost ranks.

Pure functions. Does not import Ray.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.errors import message
from runner.engines.base import RankLost
from runner.engines.ray.hosts import CPU, GPU, MEMORY, Host
from runner.messages import Hop
from runner.telemetry import clock

if TYPE_CHECKING:
    from runner.engines.ray.pool import Member, Pool

SILENCE_S = 5.0  # after which a rank, or the cluster's head, that reports nothing is lost


def device_rows(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """Return the devices of the hosts that are alive, as the protocol has them."""
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
    """Return the hosts, each with the ranks that run there."""
    at = [member.host.name for member in members]
    return [host.as_dict([rank for rank, name in enumerate(at) if name == host.name]) for host in hosts]


def links_of(pool: Pool, hops: Mapping[int, Sequence[Hop]]) -> list[dict[str, Any]]:
    """Return the hops that ranks measured to neighbours, with the names of their hosts."""
    names = [member.host.name for member in pool.members]
    return [
        {
            "from": rank, "to": hop.peer, "hosts": [names[rank], names[hop.peer]],
            "latency_ns": hop.latency, "uncertainty_ns": hop.uncertainty,
        }
        for rank, found in sorted(hops.items())
        for hop in found
    ]  # fmt: skip


def facts_of(pool: Pool) -> dict[str, Any]:
    """Return the hosts of ranks, and the uncertainty of their clocks."""
    names = {member.host.key: member.host.name for member in pool.members}
    clocks = [one.facts(names[key]) for key, one in pool.clocks.items() if key in names]
    worst = max(clock.uncertainty(), *(int(str(one["uncertainty_ns"])) for one in clocks))
    return {"hosts": [member.host.name for member in pool.members], "clocks": clocks, "clock_ns": worst}


def lost_of(pool: Pool, rank: int, hosts: Sequence[Host]) -> RankLost:
    """Return the loss of a rank, and mark the pool as broken. If the host is dead, the first rank is reported for
    all.
    """
    pool.broken = True
    member = pool.members[rank]
    host = next((one for one in hosts if one.key == member.host.key), member.host)
    if not host.alive:
        what = message("runner.rank_on_host_lost", "rank {rank} on {host} was lost", rank=rank, host=host.name)
        why = message("runner.host_dead", "host {host} ({address}) is gone", host=host.name, address=host.address)
        return RankLost(rank, what, why, kind="host_lost")
    if member.error is None:
        what = message(
            "runner.remote_process_lost", "rank {rank}'s {process} was lost", rank=rank, process=member.process
        )
        why = message(
            "runner.host_silent",
            "nothing has come from host {host} ({address}) for {seconds} s",
            host=host.name,
            address=host.address,
            seconds=f"{SILENCE_S:g}",
        )
        return RankLost(rank, what, why, kind="no_answer")
    what = message("runner.remote_process_ended", "rank {rank}'s {process} ended", rank=rank, process=member.process)
    return RankLost(rank, what)


def own_device(name: str) -> str:
    """Return the name of a rank's device inside its actor, which sees no other GPU."""
    return "cuda:0" if name.startswith("cuda") else name
