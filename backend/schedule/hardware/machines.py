"""Accelerators as the cost model needs them: peak rate, memory and links, from the vendor's datasheets.

Rates are dense bfloat16 (the datasheets headline the sparse ones, twice as high). A link's bandwidth is that of one
direction (the datasheets give the sum of both). Latencies and the link to host memory are not in the datasheets; both
are assumed (PCIe 4.0 x16 for A100, else 5.0 x16).

What is reached of these rates is assumed, and held against published steps (docs/accuracy.md): .82 of the peak in large
products on A100, .7 elsewhere; about half of it in the attention core, where flash attention reaches 50 to 73 % in its
forward on A100 (Dao 2023, arXiv 2307.08691) and up to 75 % on H100 (Shah et al. 2024, arXiv 2407.08608), less in the
backward; .85 of the memory's bandwidth and .8 of a link's.
``TILE`` is by how much every dimension of a product is longer in effect: it gives small products their lower rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from backend.schedule.errors import message
from backend.schedule.hardware.models import YOUR_OWN, YOURS_TO_SET, pick
from backend.schedule.spec import integer, number, optional

TILE = 160.0
MEMORY_SHARE = 0.85
LINK_SHARE = 0.8


@dataclass(frozen=True)
class Machine:
    """``flops`` in FLOP/s, ``memory`` in bytes, bandwidths in bytes/s, latencies in s; ``intra`` links join the
    ``per_node`` devices of a node, ``inter`` links the nodes, ``host`` links join a device to its host's memory.
    ``inter_bandwidth`` is that of one network adapter, of which a node has ``nics`` (None: one for each device).
    ``fp8_flops`` is the rate in 8 bits, 0 without. Large matrix products reach ``product_share`` of the peak, the
    attention core ``core_share``.
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
    fp8_flops: float = 0.0
    nics: int | None = None
    product_share: float = 0.7
    core_share: float = 0.55
    source: str = ""

    @property
    def node_bandwidth(self) -> float:
        """Return a device's share of its node's network adapters, in bytes/s."""
        return self.inter_bandwidth * (1.0 if self.nics is None else self.nics / self.per_node)

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
GB200 = message(
    "hardware.gb200_source",
    "NVIDIA GB200 NVL72 datasheet, NVLink 1.8 TB/s both ways in the rack, C2C 900 GB/s both ways to the host; 400 Gb/s "
    "InfiniBand; latencies are assumed",
)
MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        Machine("a100", "A100 80GB SXM", 312e12, 80e9, 2.039e12, 300e9, 25e9, 32e9, product_share=0.82,
                core_share=0.5, source=A100),
        Machine("h100", "H100 80GB SXM", 989e12, 80e9, 3.35e12, 450e9, 50e9, 64e9, fp8_flops=1979e12, source=H100),
        Machine("h200", "H200 141GB SXM", 989e12, 141e9, 4.8e12, 450e9, 50e9, 64e9, fp8_flops=1979e12, source=H200),
        Machine("b200", "B200 180GB HGX", 2250e12, 180e9, 8e12, 900e9, 50e9, 64e9, fp8_flops=4500e12, source=B200),
        Machine("gb200", "GB200 NVL72 186GB", 2500e12, 186e9, 8e12, 900e9, 50e9, 450e9, per_node=72, fp8_flops=5000e12,
                source=GB200),
        Machine("custom", YOUR_OWN, 100e12, 40e9, 1e12, 100e9, 10e9, 15e9, source=YOURS_TO_SET),
    )
}  # fmt: skip

RANGES = {  # field: the least and the greatest legal value
    "flops": (1e6, 1e20), "memory": (1e3, 1e18), "hbm_bandwidth": (1e3, 1e18), "intra_bandwidth": (1e3, 1e18),
    "inter_bandwidth": (1e3, 1e18), "host_bandwidth": (1e3, 1e18),
    "intra_latency": (0.0, 10.0), "inter_latency": (0.0, 10.0), "fp8_flops": (0.0, 1e20),
    "product_share": (1e-3, 1.0), "core_share": (1e-3, 1.0),
}  # fmt: skip
COUNTS = {"per_node": (1, 4096), "nics": (1, 4096)}
MACHINE_FIELDS = (*RANGES, *COUNTS)
assert set(MACHINE_FIELDS) | {"name", "title", "source"} == {each.name for each in fields(Machine)}


def machine_of(name: Any, changes: Mapping[str, Any]) -> Machine:
    """Return a preset with some fields changed. Raises SpecError for an unknown name and for a field out of range."""
    machine = pick("machine", name, MACHINES)
    read: dict[str, Any] = {}
    for field, value in changes.items():
        if field in RANGES:
            read[field] = number(field, value, *RANGES[field])
        elif field == "nics":
            read[field] = optional(integer, field, value, *COUNTS[field])
        else:
            read[field] = integer(field, value, *COUNTS[field])
    return replace(machine, **read)


def bounds() -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest legal value of each numeric field."""
    return {**RANGES, **COUNTS}
