"""Routes of the workbench's tasks: what they are, their boards, and orders that are submitted to them."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.errors import message
from backend.jobs import tasks as answers
from backend.jobs.strict_json import only
from backend.tasks import histogram
from backend.tasks.grade import grade
from backend.tasks.names import name_of
from backend.tasks.task import task_of
from backend.web.http import access
from backend.web.http.clients import client_of
from backend.web.http.computing import compute
from backend.web.http.request_body import read_object
from backend.web.services import send_cached, services

tasks = Blueprint("tasks", __name__, url_prefix="/api/tasks")
AN_ENTRY = message("boards.an_entry", "an entry")
SHOWN_MS = 2000.0  # the first time: some par orders are searched
GRADED_MS = 100.0
CLAIMS = ("score", "makespan", "bubble", "peak", "messages", "simplicity")  # sent by a client and ignored


@tasks.get("")
def list_tasks() -> Response:
    """Return every task of the workbench, in order, without par, and the ideas that group them."""
    return send_cached("tasks", answers.list_tasks)


@tasks.get("/<slug>")
def show_task(slug: str) -> Response:
    """Return a task: its start, goals, par, the named schedules at its sizes, and a bound."""
    task_of(slug)
    return send_cached(("task", slug), lambda: compute(answers.show_task, slug, ms=SHOWN_MS))


@tasks.get("/<slug>/board")
def show_board(slug: str) -> Response:
    """Return a task's board: a histogram of each metric, the Pareto front, and the best entries, to be replayed."""
    board = services().boards.board(slug)
    position = task_of(slug).position
    return jsonify(
        task=slug,
        entries=board.kept,
        submissions=board.submissions,
        histograms=histogram.as_dict(position, board.counts),
        front=[answers.entry_as_dict(entry) for entry in board.front],
        best=[answers.entry_as_dict(entry) for entry in board.best],
    )


@tasks.post("/<slug>/entries")
def submit_entry(slug: str) -> tuple[Response, int]:
    """Submit an order to a task: the server checks it, computes its score and keeps it on the board.

    A score in the body is not read.
    """
    body = only(read_object(request), ("order", "rows", "name", *CLAIMS), AN_ENTRY)
    task, name = task_of(slug), name_of(body.get("name"))
    services().boards.admit(client_of(request))
    graded = compute(grade, task, body.get("order"), body.get("rows"), ms=GRADED_MS)
    kept = services().boards.submit(graded, name)
    shape: dict[str, Any] = {
        "entry": answers.entry_as_dict(kept.entry),
        "new": kept.new,
        "solved": graded.solved,
        "stars": graded.stars,
        "goals": list(graded.goals),
        "place": kept.place,
    }
    return jsonify(shape), 201


@tasks.delete("/<slug>/entries/<entry>")
def delete_entry(slug: str, entry: str) -> tuple[str, int]:
    """Delete an entry of a board."""
    services().boards.delete(slug, entry)
    access.record("delete entry", f"{slug}/{entry}")
    return "", 204


@tasks.delete("/<slug>/entries/<entry>/name")
def delete_name(slug: str, entry: str) -> tuple[str, int]:
    """Remove the display name of an entry of a board; the entry stays."""
    services().boards.unname(slug, entry)
    access.record("delete name", f"{slug}/{entry}")
    return "", 204
