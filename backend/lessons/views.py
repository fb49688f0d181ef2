"""Views that lessons show: a query of the page is checked key by key before a reader meets it."""

from __future__ import annotations

from urllib.parse import parse_qsl

from backend.address.first_visit import VIEW_KEYS
from backend.address.link_state import OTHERS, plans_of
from backend.address.query import KEYS
from backend.errors import RequestError
from backend.lessons.values import Budget, LessonError, mistake
from backend.schedule.spec import Spec

LONGEST = 1000  # characters


def view_of(query: str, budget: Budget) -> list[Spec]:
    """Return the schedules of a view, such as "?family=gpipe&p=4". Raises LessonError for what cannot be shown."""
    if (
        not query.startswith("?")
        or len(query) > LONGEST
        or not query.isascii()
        or any(sign in query for sign in " \"'<>")
    ):
        raise mistake(
            "lessons.not_a_query", "a view is a query such as {example}, without spaces", example="?family=gpipe&p=4"
        )
    for key, _ in parse_qsl(query[1:], keep_blank_values=True):
        plain = next((key[2:] for prefix in OTHERS if key.startswith(prefix)), key)
        if not (plain in KEYS or (plain == key and (key in VIEW_KEYS or key.startswith("m.")))):
            raise mistake("lessons.unknown_key", "{key} is no key of a view here", key=key[:40])
    if "family=" not in query:
        raise mistake("lessons.no_family", "a view names its family: ?family=1f1b")
    try:
        plans = plans_of(query[1:].encode())
        for spec in plans:
            budget.spend(spec)
    except LessonError:
        raise
    except (RequestError, ValueError) as error:
        raise LessonError(getattr(error, "message", str(error))) from None
    return plans
