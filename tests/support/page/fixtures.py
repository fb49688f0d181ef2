"""Write what the tests of tests/js compare the page with, from the server's own code.

`make fixtures` runs `python -m tests.support.page.fixtures`, and `make test-js` does so where the server is newer. The
files are made anew on every machine: they are too long for a review, and the server can make them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.schedule import jit
from tests.support import message_templates
from tests.support.page import orders, times, workbench

FOLDER = Path(__file__).parents[2] / "js" / "fixtures"


def fixtures() -> dict[str, Any]:
    """Return each file's name and content."""
    return {
        "messages": message_templates.by_code(),
        "orders": {"cases": list(orders.cases()), "options": list(orders.with_options())},
        "times": [times.case(spec) for spec in times.specs()],
        "workbench": [workbench.case(*each) for each in workbench.positions()],
    }


if __name__ == "__main__":
    jit.compile_all()
    FOLDER.mkdir(exist_ok=True)
    for name, content in fixtures().items():
        (FOLDER / f"{name}.json").write_text(json.dumps(content))
