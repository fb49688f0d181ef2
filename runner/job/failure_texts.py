"""Describe failures of a run: where a rank was when it failed, was lost or did not answer."""

from __future__ import annotations

from backend.errors import Message, message
from runner.engines.base import RankLost
from runner.failure import RunFailure
from runner.messages import RankError

Place = tuple[str | None, str]  # the text of the op in which a rank is, if any, and where it is as the end of a clause
NOWHERE: Place = (None, "")


def in_op(text: str) -> Place:
    """Return the place inside an op of the program."""
    return text, message("runner.in_op", " in op {op}", op=text)


WARMING: Place = (None, message("runner.while_warming", " while warming up"))
VERIFYING: Place = (None, message("runner.while_verifying", " while verifying"))


def of_error(rank: int, error: RankError, place: Place) -> RunFailure:
    """Return the failure of a rank that reported an error."""
    op, where = place
    text = message(
        "runner.rank_failed", "rank {rank} failed{where}: {error}", rank=rank, where=where, error=error.message
    )
    return RunFailure(error.kind, rank, op, text)


def of_loss(lost: RankLost, place: Place) -> RunFailure:
    """Return the failure of a rank that was lost."""
    op, where = place
    text = lost.what
    if where:
        text = message("runner.rank_lost", "{what}{where}", what=text, where=where)
    if lost.why:
        text = message("runner.rank_lost_because", "{what}: {why}", what=text, why=lost.why)
    return RunFailure(lost.kind, lost.rank, op, text)


def no_answer(rank: int, seconds: float, place: Place) -> RunFailure:
    """Return the failure of a rank that has not answered a command in time."""
    op, where = place
    text = message(
        "runner.no_answer",
        "rank {rank} has not answered for {seconds} s{where}",
        rank=rank,
        seconds=f"{seconds:.0f}",
        where=where,
    )
    return RunFailure("no_answer", rank, op, text)


def no_place(seconds: int, waiting: str) -> RunFailure:
    """Return the failure of a run whose ranks could not be placed in time; `waiting` says what is missing."""
    text = message(
        "runner.no_place", "there was no place for this run in {seconds} s: {waiting}", seconds=seconds, waiting=waiting
    )
    return RunFailure("no_place", None, None, text)


def refused(why: Message) -> RunFailure:
    """Return the failure of a run whose ranks the engine can never place."""
    return RunFailure("no_place", None, None, why)


def engine_lost(why: Message) -> RunFailure:
    """Return the failure of a run whose engine is lost."""
    return RunFailure("engine", None, None, why)


def unplanned(error: Exception) -> RunFailure:
    """Return the failure of a run caused by a defect of the planner."""
    text = message("runner.not_planned", "the runner failed to plan this run: {error}", error=repr(error))
    return RunFailure("internal", None, None, text)
