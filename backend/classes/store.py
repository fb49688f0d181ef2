"""Classes in the database: their settings and scene, their members, questions and answers.

An answer's key is its class, question, round and member: one that is sent twice is there once. Functions take a
transaction, and block: a program with an event loop calls them from a thread.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
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


def count_classes(transaction: Transaction) -> int:
    """Count the classes."""
    return int(transaction.execute("SELECT COUNT(*) FROM classes")[0][0])


def find_class(transaction: Transaction, code: str) -> StoredClass | None:
    """Return a class, None where there is none."""
    rows = transaction.execute(
        "SELECT code, leader, created, expires, settings, scene FROM classes WHERE code = :code", {"code": code}
    )
    if not rows:
        return None
    code, key, created, expires, settings, scene = rows[0]
    return StoredClass(code, key, created, expires, json.loads(settings), None if scene is None else json.loads(scene))


def save_settings(transaction: Transaction, code: str, settings: dict[str, Any]) -> None:
    """Store the settings of a class, its present question included."""
    values = {"code": code, "settings": json.dumps(settings)}
    transaction.execute("UPDATE classes SET settings = :settings WHERE code = :code", values)


def save_scene(transaction: Transaction, code: str, scene: dict[str, Any]) -> None:
    """Store what the leader's page shows."""
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


def save_member(transaction: Transaction, code: str, member: StoredMember) -> None:
    """Store the name and the work of a member."""
    values = {
        "id": f"{code}:{member.number}", "name": member.name, "items": json.dumps(member.items),
        "shown": None if member.view is None else json.dumps(member.view),
    }  # fmt: skip
    transaction.execute("UPDATE class_members SET name = :name, shown = :shown, items = :items WHERE id = :id", values)


def members_of(transaction: Transaction, code: str) -> list[StoredMember]:
    """Return the members of a class."""
    rows = transaction.execute(
        "SELECT number, secret, name, shown, items FROM class_members WHERE class = :code ORDER BY number",
        {"code": code},
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
        "id": f"{code}:{answer.question}:{answer.round}:{answer.member}", "class": code, "question": answer.question,
        "round": answer.round, "member": answer.member, "value": answer.value, "created": answer.created,
        "verdict": None if answer.verdict is None else int(answer.verdict),
    }  # fmt: skip
    transaction.execute(
        "INSERT INTO class_answers (id, class, question, round, member, value, verdict, created) "
        "VALUES (:id, :class, :question, :round, :member, :value, :verdict, :created) ON CONFLICT (id) DO UPDATE SET "
        "value = excluded.value, verdict = excluded.verdict, created = excluded.created",
        values,
    )


def count_answers(transaction: Transaction, code: str, question: int, round_: int) -> list[tuple[str, int]]:
    """Return each answer to a round with how many gave it."""
    rows = transaction.execute(
        "SELECT value, COUNT(*) FROM class_answers WHERE class = :code AND question = :question AND round = :round "
        "GROUP BY value",
        {"code": code, "question": question, "round": round_},
    )
    return [(value, int(count)) for value, count in rows]


def answers_of(transaction: Transaction, code: str, member: int | None = None) -> list[StoredAnswer]:
    """Return the answers of a class, or of one member, in the order of questions, rounds and members."""
    mine = "" if member is None else "AND member = :member "
    rows = transaction.execute(
        f"SELECT question, round, member, value, verdict, created FROM class_answers WHERE class = :code {mine}"
        "ORDER BY question, round, member",
        {"code": code} | ({} if member is None else {"member": member}),
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
