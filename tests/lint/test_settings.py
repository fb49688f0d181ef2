"""Every environment variable of the project is documented."""

from __future__ import annotations

import re
from dataclasses import fields

from backend.config import Config, variable
from tests.support.sources import ROOT, files, python_files, relative, report, text

VARIABLE = re.compile(r"BUBBLELINE_[A-Z_]*[A-Z]")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *files("docs", kinds=(".md",))]


def variables() -> dict[str, str]:
    """Each variable that the sources, the Makefile or a test's support names, with one file that does."""
    sources = [path for path in python_files() if not path.name.startswith("test_")] + [ROOT / "Makefile"]
    return {name: relative(path) for path in sources for name in VARIABLE.findall(text(path))}


def test_every_variable_is_in_the_table_of_settings_or_in_a_document():
    documented = set(VARIABLE.findall(Config.__doc__ or ""))
    for document in DOCUMENTS:
        if document.exists():
            documented |= set(VARIABLE.findall(text(document)))
    problems = [
        f"{name} ({where}) is documented nowhere: describe it in backend/config.py, CONTRIBUTING.md or docs/"
        for name, where in variables().items()
        if name not in documented
    ]
    assert not problems, report(problems)


def test_every_row_of_the_table_is_a_setting():
    rows = set(re.findall(r"^\s*(BUBBLELINE_\w+)\s", Config.__doc__ or "", re.MULTILINE))
    assert rows == {variable(field.name) for field in fields(Config)}


def test_documents_name_no_variable_that_nothing_reads():
    known = set(variables()) | {variable(field.name) for field in fields(Config)}
    problems = [
        f"{relative(document)} names {name}, which nothing reads"
        for document in DOCUMENTS
        if document.exists()
        for name in VARIABLE.findall(text(document))
        if name not in known
    ]
    assert not problems, report(problems)
