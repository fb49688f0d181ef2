"""The cookies of a class: the key of its leader, the secret of a member. Scripts cannot read them, other sites cannot
send them, and they end with the class.
"""

from __future__ import annotations

import time

from flask import Response
from werkzeug.wrappers import Request

from backend.classes.classroom import Classroom
from backend.classes.codes import as_code
from backend.web.http.clients import cookie_name


def leader_key(request: Request, code: str) -> str:
    """Return the key that a browser has for a class, "" for none."""
    return request.cookies.get(_name(request, "lead", code), "")


def member_secret(request: Request, code: str) -> str:
    """Return the secret that a browser has for a class, "" for none."""
    return request.cookies.get(_name(request, "class", code), "")


def give_key(response: Response, request: Request, room: Classroom, key: str) -> None:
    """Give a browser the key of a class."""
    _give(response, request, _name(request, "lead", room.code), key, room)


def give_secret(response: Response, request: Request, room: Classroom, secret: str) -> None:
    """Give a browser the secret of a member."""
    _give(response, request, _name(request, "class", room.code), secret, room)


def take_secret(response: Response, request: Request, code: str) -> None:
    """Take the secret of a member from a browser."""
    response.delete_cookie(_name(request, "class", code), httponly=True, samesite="Lax", path="/")


def take_key(response: Response, request: Request, code: str) -> None:
    """Take the key of a class from a browser."""
    response.delete_cookie(_name(request, "lead", code), httponly=True, samesite="Lax", path="/")


def _name(request: Request, part: str, code: str) -> str:
    return f"{cookie_name(request)}-{part}-{as_code(code)}"  # as the code is stored, however it was typed


def _give(response: Response, request: Request, name: str, text: str, room: Classroom) -> None:
    age = max(60, int(room.expires - time.time()))
    response.set_cookie(name, text, max_age=age, httponly=True, samesite="Lax", secure=request.is_secure, path="/")
