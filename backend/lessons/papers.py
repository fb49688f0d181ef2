"""The papers that lessons cite: the list of the page's help, read from its source, so that there is one list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from backend.config import PROJECT

LIST = PROJECT / "static" / "js" / "panels" / "help" / "papers.js"
ENTRY = re.compile(
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
    found = ENTRY.findall(LIST.read_text(encoding="utf-8"))
    return {
        key: Paper(title, authors, int(year), f"{ARXIV}{arxiv}" if arxiv else doi)
        for key, title, authors, year, arxiv, doi in found
    }
