"""Accelerators as the cost model needs them: peak rate, memory and links, from the vendor's datasheets.

Rates are dense bfloat16 (the datasheets headline the sparse ones, twice as high). A link's bandwidth is that of one
direction (the datasheets give the sum of both). Latencies and the link to host memory are not in the datasheets; both
are assumed (PCIe 4.0 x16 for A100, else 5.0 x16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from backend.schedule.errors import message
from backend.schedule.hardware.models import YOUR_OWN, YOURS_TO_SET, pick
from backend.schedule.spec import integer, number


@dataclass(frozen=True)
class Machine:
    """``flops`` in FLOP/s, ``memory`` in bytes, bandwidths in bytes/s, latencies in s; ``intra`` links join the
    ``per_node`` devices of a node, ``inter`` links the nodes, ``host`` links join a device to its host's memory.
    """

    name: str
    title: str
    flops: float
    memory: float
    hbm_bandwidth: float
    intra_bandwidth: float
    inter_bandwidth: float
    host_bandwidth: float
    intra_latency: float = 5e-6
    inter_latency: float = 10e-6
    per_node: int = 8
    source: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return every field, as needed by the page's form."""
        return asdict(self)


A100 = message(
    "hardware.a100_source",
    "NVIDIA A100 datasheet, NVLink 600 GB/s both ways; 200 Gb/s InfiniBand; latencies and the host link (PCIe x16) "
    "are assumed",
)
H100 = message(
    "hardware.h100_source",
    "NVIDIA H100 datasheet (989.4 dense), NVLink 900 GB/s both ways; 400 Gb/s InfiniBand; latencies and the host link "
    "(PCIe x16) are assumed",
)
H200 = message(
    "hardware.h200_source",
    "NVIDIA H200 datasheet (989.4 dense), NVLink 900 GB/s both ways; 400 Gb/s InfiniBand; latencies and the host link "
    "(PCIe x16) are assumed",
)
B200 = message(
    "hardware.b200_source",
    "NVIDIA HGX B200 datasheet, NVLink 1.8 TB/s both ways; 400 Gb/s InfiniBand; latencies and the host link (PCIe x16) "
    "are assumed",
)
MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        Machine("a100", "A100 80GB SXM", 312e12, 80e9, 2.039e12, 300e9, 25e9, 32e9, source=A100),
        Machine("h100", "H100 80GB SXM", 989e12, 80e9, 3.35e12, 450e9, 50e9, 64e9, source=H100),
        Machine("h200", "H200 141GB SXM", 989e12, 141e9, 4.8e12, 450e9, 50e9, 64e9, source=H200),
        Machine("b200", "B200 180GB HGX", 2250e12, 180e9, 8e12, 900e9, 50e9, 64e9, source=B200),
        Machine("custom", YOUR_OWN, 100e12, 40e9, 1e12, 100e9, 10e9, 15e9, source=YOURS_TO_SET),
    )
}

RANGES = {  # field: the least and the greatest legal value
    "flops": (1e6, 1e20), "memory": (1e3, 1e18), "hbm_bandwidth": (1e3, 1e18), "intra_bandwidth": (1e3, 1e18),
    "inter_bandwidth": (1e3, 1e18), "host_bandwidth": (1e3, 1e18),
    "intra_latency": (0.0, 10.0), "inter_latency": (0.0, 10.0),
}  # fmt: skip
PER_NODE = (1, 4096)
MACHINE_FIELDS = (*RANGES, "per_node")
assert set(MACHINE_FIELDS) | {"name", "title", "source"} == {each.name for each in fields(Machine)}


def machine_of(name: Any, changes: Mapping[str, Any]) -> Machine:
    """Return a preset with some fields changed. Raises SpecError for an unknown name and for a field out of range."""
    machine = pick("machine", name, MACHINES)
    read: dict[str, Any] = {}
    for field, value in changes.items():
        read[field] = integer(field, value, *PER_NODE) if field == "per_node" else number(field, value, *RANGES[field])
    return replace(machine, **read)


def bounds() -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest legal value of each numeric field."""
    return {**RANGES, "per_node": PER_NODE}
