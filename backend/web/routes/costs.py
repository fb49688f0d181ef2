"""Routes about costs: the presets of models and machines, the costs of a model on a machine, and balanced layers."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from backend.address.preset import setting_fields
from backend.jobs import analyses
from backend.jobs.encoding import encode_json
from backend.schedule.hardware.cost_model import DEFAULTS, KEYS, SETTING_BOUNDS, Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.machines import bounds as machine_bounds
from backend.schedule.hardware.models import MODELS
from backend.schedule.hardware.models import bounds as model_bounds
from backend.web.http.computing import compute
from backend.web.http.responses import lenient
from backend.web.services import send_cached

costs = Blueprint("costs", __name__, url_prefix="/api")


@costs.get("/models")
def list_models() -> Response:
    """Return the presets with all their fields, the defaults, and the bounds of each field."""
    return send_cached("models", lambda: encode_json(_presets()))


@costs.get("/costs")
@lenient
def show_costs() -> Response:
    """Return times, bytes and their derivation."""
    setting = Setting.read(setting_fields(request.query_string, KEYS))
    return send_cached(("costs", setting), lambda: encode_json(estimate(setting).as_dict()))


@costs.get("/balance")
@lenient
def show_balance() -> Response:
    """Return the even split of layers and a better one, with the schedule's figures for each."""
    query = request.query_string
    return send_cached(("balance", query), lambda: compute(analyses.balance, query))


def _presets() -> dict[str, Any]:
    return {
        "models": [model.as_dict() for model in MODELS.values()],
        "machines": [machine.as_dict() for machine in MACHINES.values()],
        "defaults": DEFAULTS,
        "bounds": model_bounds() | machine_bounds() | SETTING_BOUNDS,
    }
