"""Tools for assistants that speak the Model Context Protocol: the words of the Python API with small answers.

Each answer about a schedule has a link to its view. The official SDK does the protocol; the extra ``mcp`` has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import bubbleline as bl

Answer = dict[str, Any]
Numbers = dict[str, float | list[float]]
ABOUT = (
    "Pipeline-parallel training schedules: p devices, m micro-batches, v chunks per device. Costs are f, i, w (a full "
    "backward is i + w) and comm, of one micro-batch; with a model they are in ms. Memory is in one micro-batch's "
    "activations. Give links to people: the page behind them draws the schedule."
)


def server(page: str) -> MCPServer:
    """Return the server; links lead to the page at this address."""
    made = MCPServer("bubbleline", instructions=ABOUT, version=bl.__version__)
    tools = Tools(page)
    for tool in (tools.families, tools.schedule, tools.compare, tools.why_idle, tools.search, tools.plan,
                 tools.check_order, tools.torch_csv):  # fmt: skip
        made.add_tool(_as_text(tool), structured_output=False)
    return made


def _as_text(tool: Callable[..., Answer]) -> Callable[..., str]:
    """Return a tool that answers JSON in one line, and what is wrong with a value in a sentence."""

    @wraps(tool)
    def answered(**given: Any) -> str:
        try:
            return json.dumps(tool(**given), ensure_ascii=False)
        except (ValueError, TypeError, OSError) as error:  # those of the API, an unknown option, no such file
            raise ToolError(str(error)) from None

    return answered


@dataclass(frozen=True)
class Tools:
    """The tools, whose docstrings and types are what an assistant is told; links lead to ``page``."""

    page: str

    def _shown(self, plan: bl.Schedule) -> Answer:
        law = plan.law
        answer: Answer = {
            "schedule": f"{plan.title}, p {plan.p}, m {plan.m}, v {plan.v}",
            "bubble": round(plan.bubble, 4),
            "step_time": plan.step_time,
            "peak_memory": round(float(plan.peak_memory.max()), 4),
            "link": plan.link(self.page),
        }
        if law is not None and law.exact:
            answer["law"] = f"{law.quantity} = {law.formula} = {law.value:g}"
        if plan.certificate is not None:
            answer["above_lower_bound"] = round(plan.certificate.gap, 4)
        if plan.units is not None:
            memory = plan.units.memory
            answer |= {"seconds": plan.units.whole, "tokens_per_second": round(plan.units.rate)}
            answer |= {"mfu": round(plan.units.mfu, 4), "gb": round(memory.most / 1e9, 2), "fits": memory.fits}
        return answer

    def families(self) -> Answer:
        """List the schedule families by name."""
        return {"families": bl.families()}

    def schedule(
        self, family: str, p: int = 4, m: int = 8, v: int | None = None, costs: Numbers | None = None,
        model: str | None = None, options: Answer | None = None,
    ) -> Answer:  # fmt: skip
        """Bubble, step time, memory and law of a schedule. options: recompute, offload, vocabulary, memory, layers."""
        return self._shown(bl.schedule(family, p=p, m=m, v=v, costs=costs, model=model, **(options or {})))

    def compare(
        self, p: int = 4, m: int = 8, families: list[str] | None = None, costs: Numbers | None = None,
        model: str | None = None,
    ) -> Answer:  # fmt: skip
        """Figures of several families (all without a list) at one setting, the fastest first."""
        found = bl.compare(*(families or ()), p=p, m=m, costs=costs, model=model)
        links = {each.family: each.link(self.page) for each in found}
        rows = sorted(found.rows, key=lambda row: float(row["step_time"]))
        return {"rows": [row | {"link": links[row["family"]]} for row in rows], "notes": list(found.notes)}

    def why_idle(
        self,
        rank: int,
        t: float,
        family: str,
        p: int = 4,
        m: int = 8,
        v: int | None = None,
        costs: Numbers | None = None,
    ) -> Answer:
        """Why a rank is idle at a time of the step."""
        plan = bl.schedule(family, p=p, m=m, v=v, costs=costs)
        found = plan.why_idle(rank, t)
        told = "The rank is busy then." if found is None else found.sentence
        return {"why": told, "link": f"{plan.link(self.page)}&at={t:g}"}

    def search(
        self, family: str = "zb-auto", p: int = 4, m: int = 8, memory: float | None = None,
        costs: Numbers | None = None, seconds: float = 5.0,
    ) -> Answer:  # fmt: skip
        """Search for the best order within a memory limit: zb-auto, v-auto (two chunks) or chimera-auto."""
        limit: Answer = {} if memory is None else {"memory": memory}
        return self._shown(bl.search(family, seconds=min(seconds, 60.0), p=p, m=m, costs=costs, **limit))

    def plan(
        self, model: str, machine: str = "h100", tp: int = 1, p: int | None = None, m: int | None = None,
        gpus: int | None = None, batch: int | None = None, gb: float | None = None, rows: int = 5,
    ) -> Answer:  # fmt: skip
        """The fastest ways to train a model within a device's memory, for p and m, or for gpus and batch."""
        on = bl.model(model, machine, **({} if gpus else {"tp": tp}))
        found = bl.plan(on, p=p, m=m, gpus=gpus, batch=batch, gb=gb)[:rows]
        return {
            "plans": [{"sizes": each.sizes, **self._shown(each.schedule), "gb": round(each.gb, 2)} for each in found]
        }

    def check_order(self, csv: str, max_bubble: str | None = None, family: str | None = None) -> Answer:
        """Whether an order in torch's CSV (a line per rank: 0F0,0F1,0B0) can run and keeps limits."""
        found = bl.check(csv, max_bubble=max_bubble, family=family)
        broken = any(each.check == "order" for each in found)
        return {"findings": [each.message for each in found], **({} if broken else self._shown(bl.from_csv(csv)))}

    def torch_csv(self, family: str, p: int = 4, m: int = 8, v: int | None = None) -> Answer:
        """The order of a schedule as the CSV that torch.distributed.pipelining loads."""
        plan = bl.schedule(family, p=p, m=m, v=v)
        return {"csv": plan.to_torch_csv(), "link": plan.link(self.page)}
