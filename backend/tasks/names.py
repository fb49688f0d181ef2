"""Display names on boards: plain text, or none."""

from __future__ import annotations

import unicodedata
from typing import Any

from backend.errors import Message, RequestError, message

LONGEST_NAME = 24  # characters
MARKUP = "<>&"
# Characters that cannot be seen, change the direction of what follows, or have no meaning: controls, formats (with the
# bidirectional overrides and what joins or hides others), surrogates, private use, unassigned, ends of lines.
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
MOST_MARKS = 2  # on one letter: more cover the lines above and below


def name_of(given: Any) -> str | None:
    """Return the display name in normal form, None for none. Raises RequestError for anything but plain text."""
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise _refused(given, message("boards.name_is_text", "a name is a text of at most {most} characters",
                                      most=LONGEST_NAME))  # fmt: skip
    text = " ".join(filter(None, unicodedata.normalize("NFC", given[:10_000]).split(" ")))
    if len(text) > LONGEST_NAME:
        why = message(
            "boards.name_too_long",
            "a name has at most {most} characters, this one has {length}",
            most=LONGEST_NAME,
            length=len(text),
        )
        raise _refused(given, why)
    hidden = next((each for each in text if unicodedata.category(each) in INVISIBLE), None)
    if hidden is not None:
        why = message(
            "boards.name_has_hidden_characters",
            "a name is plain text; U+{number} cannot be seen or changes the direction of writing",
            number=f"{ord(hidden):04X}",
        )
        raise _refused(given, why)
    if any(each in MARKUP for each in text):
        raise _refused(given, message("boards.name_has_markup", "a name is plain text without < > &"))
    if not any(each.isalnum() for each in text) or _most_marks(text) > MOST_MARKS:
        why = message(
            "boards.name_needs_letters",
            "a name has a letter or a digit, and at most {most} marks on each",
            most=MOST_MARKS,
        )
        raise _refused(given, why)
    return text


def _most_marks(text: str) -> int:
    longest = now = 0
    for each in text:
        now = now + 1 if unicodedata.category(each).startswith("M") else 0
        longest = max(longest, now)
    return longest


def _refused(given: Any, why: Message) -> RequestError:
    shown = given[:80] if isinstance(given, str) else None
    # What comes back in the error must not have the characters that were refused.
    return RequestError("name", None if shown is None else ascii(shown)[1:-1], why, limit=LONGEST_NAME)
