"""Routes about costs: the models and machines on offer, what one costs on the other, and the better split of layers.

Knows how the question stands in the address; which values are legal is the schedule core's to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, request

from backend.schedule.errors import SpecError
from backend.schedule.hardware.balance import BALANCE_KEYS, balance_of
from backend.schedule.hardware.cost_model import DEFAULTS, KEYS, SETTING_BOUNDS, Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.machines import bounds as machine_bounds
from backend.schedule.hardware.models import MAY_LACK, MODELS, SHAPE
from backend.schedule.hardware.models import bounds as model_bounds
from backend.web.address.query import TRUTHS, fields_of, list_of, number_of
from backend.web.http.cache import Encoded
from backend.web.http.responses import AWAY_FROM, apart, encode_json, send
from backend.web.routes.schedule import refused
from backend.web.services import services

costs = Blueprint("costs", __name__, url_prefix="/api")
WORDS = ("model", "machine", "link", "placement", "family")
YES_NO = ("heads", "gated", "flash")
NONE = "none"  # how an address leaves a field to the others, where the preset sets it


@costs.get("/models")
def list_models() -> Response:
    """The presets with all their fields, what is taken without a word, and from where to where each field goes."""
    return _answer("models", _shelf)


@costs.get("/costs")
def show_costs() -> Response:
    """Times, bytes and their arithmetic."""
    try:
        setting = Setting.read(asked_of(request.query_string, KEYS))
    except SpecError as error:
        return refused(error)
    return _answer(("costs", setting), lambda: estimate(setting).as_dict())


@costs.get("/balance")
def show_balance() -> Response:
    """The even split of layers and a better one, with what each makes of the schedule."""
    try:
        data = asked_of(request.query_string, (*KEYS, *BALANCE_KEYS))
        return _answer(("balance", repr(data)), lambda: balance_of(data).as_dict(), apart_from_others=True)
    except SpecError as error:
        return refused(error)


def _answer(key: Any, make: Callable[[], dict[str, Any]], apart_from_others: bool = False) -> Response:
    cache = services().cache
    found: Encoded | None = cache.get(key)
    if found is None:
        found = apart(AWAY_FROM if apart_from_others else 0, lambda: encode_json(make()))
        cache.put(key, found)
    return send(request, found)


def _shelf() -> dict[str, Any]:
    return {
        "models": [model.as_dict() for model in MODELS.values()],
        "machines": [machine.as_dict() for machine in MACHINES.values()],
        "defaults": DEFAULTS,
        "bounds": model_bounds() | machine_bounds() | SETTING_BOUNDS,
        "shape": SHAPE,
    }


def asked_of(query: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    """The values in an address; SpecError names the key that is unknown, stands twice or cannot be read."""
    return fields_of(query, known, setting_value)


def setting_value(key: str, text: str) -> Any:
    """A field of a setting from its text; SpecError if it cannot be read."""
    if key in WORDS:
        return text
    if key in YES_NO:
        if text not in TRUTHS:
            raise SpecError(key, text, f"{key} must be 1 or 0", nearest=0)
        return TRUTHS[text]
    if key == "layers":
        return list_of(key, text)
    if key in MAY_LACK and text == NONE:
        return None
    return number_of(key, text)
