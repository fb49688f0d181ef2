"""The table of routes in docs/http.md, from the server's own description.

`python -m tests.support.route_table` writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.config import Config
from backend.web.factory import create_app
from backend.web.openapi.document import document

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
BEGIN, END = "<!-- routes -->\n", "<!-- end of routes -->"


def with_table(page: str, described: dict[str, Any]) -> str:
    """Return the page with the table between BEGIN and END made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table(described) + END + after


def table(described: dict[str, Any]) -> str:
    """Return a table for each tag: method and address, and what the route does."""
    parts = []
    for tag in described["tags"]:
        rows = [
            f"| `{method.upper()} {path}` | {operation['summary']} |"
            for path, at in described["paths"].items()
            for method, operation in at.items()
            if tag["name"] in operation["tags"]
        ]
        head = f"### {tag['name'].capitalize()}\n\n{tag['description']}\n\n| route | |\n|---|---|\n"
        parts.append(head + "\n".join(rows) + "\n\n")
    return "\n" + "".join(parts)


if __name__ == "__main__":
    app = create_app(Config(runner=("false",)))  # never started
    PAGE.write_text(with_table(PAGE.read_text(), document(app)))
    app.extensions["bubbleline"].runs.stop()
