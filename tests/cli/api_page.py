"""docs/api.md, from the docstrings of the Python API.

`python -m tests.cli.api_page` writes it.
"""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import bubbleline as bl

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
IMPORT = ">>> import bubbleline as bl"  # as every example begins
GROUPS = {
    "Schedules": ("schedule", "search", "Schedule", "Law", "Certificate", "Idle"),
    "Costs and models": ("Costs", "Options", "model", "Preset", "families"),
    "Comparisons and plans": ("compare", "Comparison", "plan", "Plan"),
    "Orders from elsewhere": ("from_csv", "from_configuration", "check", "Finding"),
    "Notebooks": ("Timeline",),
    "Measurements": ("Run", "read_trace", "Trace", "diagnose", "Diagnosis"),
    "Errors": ("RequestError", "SpecError", "OrderError", "RunError"),
}
HEAD = """# Python API

Written by `python -m tests.cli.api_page` from the docstrings; their examples are tests. Everything is a name of
`import bubbleline as bl`; in a checkout run Python at its top. Figures are those of the command line, to the bit.

"""


def page() -> str:
    """Return the page."""
    parts = [HEAD, _body(inspect.getdoc(bl) or ""), "\n"]
    for title, names in GROUPS.items():
        parts.append(f"\n## {title}\n")
        parts += [_entry(name, getattr(bl, name)) for name in names]
    return "".join(parts)


def _entry(name: str, each: Any) -> str:
    """Return a function, or a class with its properties in a list and its methods below."""
    call = f"```text\n{_signature(name, each)}\n```\n\n" if inspect.isfunction(each) else ""
    parts = [f"\n### {name}\n\n{call}{_body(inspect.getdoc(each) or '')}"]
    if not inspect.isclass(each) or not each.__module__.startswith("bubbleline"):
        return "".join(parts)
    members = {key: member for key, member in vars(each).items() if not key.startswith("_")}
    values = {key: each for key, each in members.items() if isinstance(each, property | cached_property)}
    if values:
        parts.append("\n" + "\n".join(f"- `{key}`: {_first_lines(value)}" for key, value in values.items()) + "\n")
    for key, member in members.items():
        if inspect.isfunction(member):
            parts.append(f"\n#### {name}.{_signature(key, member)}\n\n{_body(inspect.getdoc(member) or '')}")
    return "".join(parts)


def _first_lines(value: Any) -> str:
    """Return what precedes the examples of a property, in one paragraph."""
    text = (inspect.getdoc(value) or "").partition("Examples:")[0]
    return " ".join(text.replace("``", "`").split())


def _signature(name: str, function: Any) -> str:
    """Return the call with its arguments and their defaults, without types, which the text and an editor have."""
    given = inspect.signature(function)
    plain = [each.replace(annotation=each.empty) for each in given.parameters.values() if each.name != "self"]
    return f"{name}{given.replace(parameters=plain, return_annotation=given.empty)}"


def _body(text: str) -> str:
    """Return a docstring as Markdown: sections in bold, their entries as a list, examples as code."""
    out: list[str] = []
    code = False
    for line in text.replace("``", "`").splitlines():
        section = re.fullmatch(r"(Args|Attributes|Returns|Raises|Examples):", line)
        inside = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if inside != code:
            out.append("```" if code else "```python")
            code = inside
        if code and line.strip() != IMPORT:
            out.append(line.removeprefix("    ") if line.startswith("    ") else line)
        elif code:
            continue
        elif section:
            out += [] if section[1] == "Examples" else [f"**{section[1]}**", ""]
        elif re.fullmatch(r"    \S.*", line):
            entry = re.fullmatch(r"    ([\w*, ]+): (.*)", line)
            out.append(f"- `{entry[1]}`: {entry[2]}" if entry else line.strip())
        else:
            out.append(line.strip() if not line.startswith("        ") else f"  {line.strip()}")
    if code:
        out.append("```")
    return "\n".join(out).strip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
