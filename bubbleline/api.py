"""The words of the API, each from its module."""

from backend.schedule.analysis.why_idle import Idle
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.order_limits import Finding
from bubbleline.comparison import Comparison, compare
from bubbleline.measured import Diagnosis, Run, RunError, Trace, diagnose, read_trace
from bubbleline.orders import check, from_configuration, from_csv
from bubbleline.plans import Plan, plan
from bubbleline.schedules import Certificate, Law, Schedule, schedule, search
from bubbleline.settings import Costs, Options, RequestError, families, model

__all__ = [
    "Certificate",
    "Comparison",
    "Costs",
    "Diagnosis",
    "Finding",
    "Idle",
    "Law",
    "Options",
    "OrderError",
    "Plan",
    "Preset",
    "RequestError",
    "Run",
    "RunError",
    "Schedule",
    "SpecError",
    "Trace",
    "check",
    "compare",
    "diagnose",
    "families",
    "from_configuration",
    "from_csv",
    "model",
    "plan",
    "read_trace",
    "schedule",
    "search",
]
