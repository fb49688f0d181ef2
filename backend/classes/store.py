"""Classes in the database: their settings and scene, their members, questions and answers.

An answer's key is its class, question, round and member: one that is sent twice is there once. Functions take a
transaction, and block: a program with an event loop calls them from a thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from backend.database.database import Transaction

TABLES = ("class_answers", "class_questions", "class_members")


@dataclass(frozen=True)
class StoredClass:
    """A class as it is stored; `key` is the digest of its leader's key, times are seconds since 1970."""

    code: str
    key: str
    created: float
    expires: float
    settings: dict[str, Any]
    scene: dict[str, Any] | None


@dataclass(frozen=True)
class StoredMember:
    """A member; `secret` is the digest of its cookie, `items` the state of each item it has begun."""

    number: int
    secret: str
    name: str | None
    view: dict[str, str] | None
    items: dict[str, str]


@dataclass(frozen=True)
class StoredAnswer:
    """An answer as it is exported; `verdict` is None where nobody has said what is right."""

    question: int
    round: int
    member: int
    value: str
    verdict: bool | None
    created: float


def insert_class(transaction: Transaction, made: StoredClass) -> bool:
    """Store a new class; return False where its code is taken."""
    if transaction.execute("SELECT 1 FROM classes WHERE code = :code", {"code": made.code}):
        return False
    values = {
        "code": made.code, "key": made.key, "created": made.created, "expires": made.expires,
        "settings": json.dumps(made.settings),
    }  # fmt: skip
    transaction.execute(
        "INSERT INTO classes (code, leader, created, expires, settings, scene) "
        "VALUES (:code, :key, :created, :expires, :settings, NULL)",
        values,
    )
    return True


def count_classes(transaction: Transaction, now: float) -> int:
    """Count the classes whose time is not over."""
    return int(transaction.execute("SELECT COUNT(*) FROM classes WHERE expires >= :now", {"now": now})[0][0])


def find_class(transaction: Transaction, code: str) -> StoredClass | None:
    """Return a class, None where there is none."""
    rows = transaction.execute(
        "SELECT code, leader, created, expires, settings, scene FROM classes WHERE code = :code", {"code": code}
    )
    if not rows:
        return None
    code, key, created, expires, settings, scene = rows[0]
    return StoredClass(code, key, created, expires, json.loads(settings), None if scene is None else json.loads(scene))


def settings_of(transaction: Transaction, code: str) -> dict[str, Any] | None:
    """Return the settings of a class, its present question included; None where there is no class."""
    rows = transaction.execute("SELECT settings FROM classes WHERE code = :code", {"code": code})
    return json.loads(rows[0][0]) if rows else None


def save_settings(transaction: Transaction, code: str, settings: dict[str, Any]) -> None:
    """Store the settings of a class, its present question included."""
    values = {"code": code, "settings": json.dumps(settings)}
    transaction.execute("UPDATE classes SET settings = :settings WHERE code = :code", values)


def save_scene(transaction: Transaction, code: str, scene: dict[str, Any]) -> None:
    """Store what the leader's page shows, unless another process has stored what was shown later."""
    rows = transaction.execute("SELECT scene FROM classes WHERE code = :code", {"code": code})
    if rows and rows[0][0] is not None and json.loads(rows[0][0])["seq"] > scene["seq"]:
        return
    values = {"code": code, "scene": json.dumps(scene)}
    transaction.execute("UPDATE classes SET scene = :scene WHERE code = :code", values)


def insert_member(transaction: Transaction, code: str, secret: str, name: str | None, joined: float) -> int:
    """Store a new member and return its number: no number is given twice, not that of one who has left either."""
    rows = transaction.execute("SELECT last_member FROM classes WHERE code = :code", {"code": code})
    number = int(rows[0][0]) + 1
    transaction.execute("UPDATE classes SET last_member = :number WHERE code = :code", {"code": code, "number": number})
    values = {
        "id": f"{code}:{number}", "class": code, "number": number, "secret": secret, "name": name, "joined": joined,
    }  # fmt: skip
    transaction.execute(
        "INSERT INTO class_members (id, class, number, secret, name, joined, shown, items) "
        "VALUES (:id, :class, :number, :secret, :name, :joined, NULL, '{}')",
        values,
    )
    return number


def save_name(transaction: Transaction, code: str, number: int, name: str | None) -> None:
    """Store the name of a member."""
    values = {"id": f"{code}:{number}", "name": name}
    transaction.execute("UPDATE class_members SET name = :name WHERE id = :id", values)


def save_work(transaction: Transaction, code: str, member: StoredMember) -> None:
    """Store what a member's page shows and how far it is; nothing where the member has left."""
    values = {
        "id": f"{code}:{member.number}", "items": json.dumps(member.items),
        "shown": None if member.view is None else json.dumps(member.view),
    }  # fmt: skip
    transaction.execute("UPDATE class_members SET shown = :shown, items = :items WHERE id = :id", values)


def count_members(transaction: Transaction, code: str) -> int:
    """Count the members of a class."""
    return int(transaction.execute("SELECT COUNT(*) FROM class_members WHERE class = :code", {"code": code})[0][0])


def has_member(transaction: Transaction, code: str, number: int) -> bool:
    """Return whether a class has this member."""
    return bool(transaction.execute("SELECT 1 FROM class_members WHERE id = :id", {"id": f"{code}:{number}"}))


def members_of(transaction: Transaction, code: str, secret: str | None = None) -> list[StoredMember]:
    """Return the members of a class, or the one that has the secret with this digest."""
    one = "" if secret is None else "AND secret = :secret "
    rows = transaction.execute(
        f"SELECT number, secret, name, shown, items FROM class_members WHERE class = :code {one}ORDER BY number",
        {"code": code} | ({} if secret is None else {"secret": secret}),
    )
    return [
        StoredMember(int(number), secret, name, None if shown is None else json.loads(shown), json.loads(items))
        for number, secret, name, shown, items in rows
    ]


def delete_member(transaction: Transaction, code: str, number: int) -> None:
    """Delete a member with its answers."""
    values = {"code": code, "number": number}
    transaction.execute("DELETE FROM class_answers WHERE class = :code AND member = :number", values)
    transaction.execute("DELETE FROM class_members WHERE class = :code AND number = :number", values)


def save_question(transaction: Transaction, code: str, question: dict[str, Any], created: float) -> None:
    """Store a question, for the export."""
    number = question["number"]
    values = {
        "id": f"{code}:{number}", "class": code, "number": number, "body": json.dumps(question), "created": created
    }  # fmt: skip
    transaction.execute(
        "INSERT INTO class_questions (id, class, number, body, created) VALUES (:id, :class, :number, :body, :created) "
        "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        values,
    )


def questions_of(transaction: Transaction, code: str) -> dict[int, dict[str, Any]]:
    """Return the questions of a class by their numbers."""
    rows = transaction.execute("SELECT number, body FROM class_questions WHERE class = :code", {"code": code})
    return {int(number): json.loads(body) for number, body in rows}


def save_answer(transaction: Transaction, code: str, answer: StoredAnswer) -> None:
    """Store an answer, in place of an earlier one to the same round."""
    values = {
        "id": _answer_id(code, answer), "class": code, "question": answer.question, "round": answer.round,
        "member": answer.member, "value": answer.value, "created": answer.created,
        "verdict": None if answer.verdict is None else int(answer.verdict),
    }  # fmt: skip
    transaction.execute(
        "INSERT INTO class_answers (id, class, question, round, member, value, verdict, created) "
        "VALUES (:id, :class, :question, :round, :member, :value, :verdict, :created) ON CONFLICT (id) DO UPDATE SET "
        "value = excluded.value, verdict = excluded.verdict, created = excluded.created",
        values,
    )


def mark_answers(
    transaction: Transaction, code: str, question: int, verdict_of: Callable[[str], bool | None]
) -> list[StoredAnswer]:
    """Say of each answer to a question whether it is right; return the answers as they are now."""
    marked = []
    for each in answers_of(transaction, code, question=question):
        verdict = verdict_of(each.value)
        marked.append(replace(each, verdict=verdict))
        if verdict != each.verdict:
            values = {"id": _answer_id(code, each), "verdict": None if verdict is None else int(verdict)}
            transaction.execute("UPDATE class_answers SET verdict = :verdict WHERE id = :id", values)
    return marked


def count_answers(transaction: Transaction, code: str, question: int, round_: int) -> list[tuple[str, int]]:
    """Return each answer to a round with how many gave it."""
    rows = transaction.execute(
        "SELECT value, COUNT(*) FROM class_answers WHERE class = :code AND question = :question AND round = :round "
        "GROUP BY value",
        {"code": code, "question": question, "round": round_},
    )
    return [(value, int(count)) for value, count in rows]


def answers_of(
    transaction: Transaction, code: str, *, member: int | None = None, question: int | None = None
) -> list[StoredAnswer]:
    """Return the answers of a class, of one member or to one question, by question, round and member."""
    parts = {"member": member, "question": question}
    asked = {name: value for name, value in parts.items() if value is not None}
    which = "".join(f"AND {name} = :{name} " for name in asked)
    rows = transaction.execute(
        f"SELECT question, round, member, value, verdict, created FROM class_answers WHERE class = :code {which}"
        "ORDER BY question, round, member",
        {"code": code} | asked,
    )
    return [
        StoredAnswer(int(number), int(round_), int(who), value, None if verdict is None else bool(verdict), created)
        for number, round_, who, value, verdict, created in rows
    ]


def delete_class(transaction: Transaction, code: str) -> None:
    """Delete a class with all that belongs to it."""
    for table in TABLES:
        transaction.execute(f"DELETE FROM {table} WHERE class = :code", {"code": code})
    transaction.execute("DELETE FROM classes WHERE code = :code", {"code": code})


def expired(transaction: Transaction, now: float) -> list[str]:
    """Return the codes of the classes whose time is over."""
    return [str(code) for (code,) in transaction.execute("SELECT code FROM classes WHERE expires < :now", {"now": now})]


def _answer_id(code: str, answer: StoredAnswer) -> str:
    return f"{code}:{answer.question}:{answer.round}:{answer.member}"
