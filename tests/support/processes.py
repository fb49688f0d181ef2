"""Processes of this machine as tests look at them, read from /proc: who started whom, who lives, and what it uses."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support import PATIENCE_S

TICK = os.sysconf("SC_CLK_TCK")
ENDED = (FileNotFoundError, ProcessLookupError)


class Stat(NamedTuple):
    """A process: its parent, its group, its processor time, and that with ended children that it has waited for."""

    pid: int
    parent: int
    group: int
    own_s: float
    used_s: float
    ended: bool  # and its parent has not waited for it yet


def stat_of(pid: int) -> Stat:
    """Read a process. Raises one of ENDED where there is none."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, user_below, system_below = (int(ticks) / TICK for ticks in fields[11:15])
    own = user + system
    return Stat(pid, int(fields[1]), int(fields[2]), own, own + user_below + system_below, fields[0] == "Z")


def listed() -> Iterator[Stat]:
    """Every process, ended ones included until their parents have waited for them."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(*ENDED):
                yield stat_of(int(entry))


def processes() -> Iterator[Stat]:
    """Every process that has not ended."""
    return (each for each in listed() if not each.ended)


def children_of(parent: int) -> list[int]:
    return [each.pid for each in processes() if each.parent == parent]


def descendants_of(root: int, among: Iterable[Stat] | None = None) -> list[int]:
    """Every process that a process has started, directly or not."""
    parents = {each.pid: each.parent for each in (processes() if among is None else among)}
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sorted(family - {root})


def group_of(leader: int) -> list[int]:
    """The processes of a group, as of a runner's session: the runner and every process it started."""
    return [each.pid for each in processes() if each.group == leader]


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    with suppress(*ENDED):
        return not stat_of(pid).ended
    return False


def command_of(pid: int) -> str:
    """The command line of a process, "" for one that has ended."""
    with suppress(*ENDED):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
    return ""


def gone(pids: list[int], within: float = PATIENCE_S) -> bool:
    """Whether all these processes end in time."""
    until = time.monotonic() + within
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)  # readable once the process has ended
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], max(0.0, until - time.monotonic()))[0]:
                return False
        finally:
            os.close(handle)
    return True


def resident_mb(pids: list[int]) -> float:
    """The memory of processes without what they share with others, in MB."""
    total = 0
    for pid in pids:
        with suppress(*ENDED):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))
    return total / 1024
