"""What lessons take from the page's own sources, so that each is written once: the list of papers, which Help shows,
and the Chinese of the server's sentences, so that what is rendered here needs no script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

from backend.config import PROJECT
from backend.errors import Message

SCRIPTS = PROJECT / "static" / "js"
PAPERS = SCRIPTS / "core" / "explain" / "papers.ts"
PAPER_ENTRY = re.compile(
    r'^  (\w+): \{\s*title: "([^"]+)",\s*authors: "([^"]+)",\s*year: (\d+),\s*doi: (?:arxiv\("([^"]+)"\)|"([^"]+)"),',
    re.MULTILINE,
)
ARXIV = "10.48550/arXiv."


@dataclass(frozen=True)
class Paper:
    """A paper as it is cited."""

    title: str
    authors: str
    year: int
    doi: str

    @property
    def citation(self) -> str:
        """Return authors, year, title and DOI, which stays readable in print."""
        return f"{self.authors} {self.year}, {self.title}, doi:{self.doi}"

    @property
    def href(self) -> str:
        """Return the address of the DOI."""
        return f"https://doi.org/{self.doi}"


@lru_cache(maxsize=1)
def papers() -> dict[str, Paper]:
    """Return every paper by its key, such as gpipe."""
    found = PAPER_ENTRY.findall(PAPERS.read_text(encoding="utf-8"))
    return {
        key: Paper(title, authors, int(year), f"{ARXIV}{arxiv}" if arxiv else doi)
        for key, title, authors, year, arxiv, doi in found
    }


CATALOGUES = SCRIPTS / "core" / "i18n"
SENTENCE = re.compile(
    r"""^  "([\w.]+)":\s*((?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")*),$""", re.M
)
PIECE = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")


@lru_cache(maxsize=4)
def catalogue(language: str) -> Mapping[str, str]:
    """Return the templates of a language by the codes of messages; none for English, which is in the code."""
    found: dict[str, str] = {}
    for path in sorted((CATALOGUES / language).glob("messages_*.ts")):
        for code, text in SENTENCE.findall(path.read_text(encoding="utf-8")):
            found[code] = "".join(json.loads(f'"{one}"') if one else two for one, two in PIECE.findall(text))
    return found


def tr(text: str, language: str) -> str:
    """Return a sentence in a language; what is no message, or has no translation, as it is."""
    if not isinstance(text, Message):
        return text
    template = catalogue(language).get(text.code)
    if template is None:
        return str(text)
    return template.format_map({name: _shown(value, language) for name, value in text.params.items()})


def template_of(text: Message, language: str) -> str:
    """Return the template of a message, with its holes, in a language; its English is the text of the message."""
    return catalogue(language).get(text.code, str(text))


def html_of(text: str, language: str) -> str:
    """Return a reason as HTML: a message is a plain text, what a lesson's file says has its formatting already."""
    return escape(tr(text, language), quote=False) if isinstance(text, Message) else text


def _shown(value: Any, language: str) -> Any:
    if isinstance(value, list | tuple):
        return ("、" if language == "zh" else ", ").join(str(_shown(each, language)) for each in value)
    return tr(value, language) if isinstance(value, str) else value
