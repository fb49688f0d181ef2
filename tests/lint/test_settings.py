"""Every environment variable of the project is documented."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import fields

import pytest
from click.testing import CliRunner

from app import cli
from backend.config import Config, settings, variable
from tests.support.sources import ROOT, files, python_files, relative, report, text

VARIABLE = re.compile(r"BUBBLELINE_[A-Z_]*[A-Z]")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *files("docs", kinds=(".md",))]


def variables() -> dict[str, str]:
    """Each variable that the sources, the Makefile or a test's support names, with one file that does."""
    sources = [path for path in python_files() if not path.name.startswith("test_")] + [ROOT / "Makefile"]
    return {name: relative(path) for path in sources for name in VARIABLE.findall(text(path))}


def test_every_variable_is_in_the_table_of_settings_or_in_a_document():
    documented = {each.variable for each in settings(Config())}
    for document in DOCUMENTS:
        if document.exists():
            documented |= set(VARIABLE.findall(text(document)))
    problems = [
        f"{name} ({where}) is documented nowhere: describe it in backend/config.py, CONTRIBUTING.md or docs/"
        for name, where in variables().items()
        if name not in documented
    ]
    assert not problems, report(problems)


def test_every_setting_is_printed_with_its_value_and_a_meaning():
    printed = CliRunner(env={"BUBBLELINE_QUEUE": "7", "BUBBLELINE_HOSTS": "a.example,b.example"}).invoke(
        cli, ["settings"]
    )
    assert "BUBBLELINE_QUEUE=7\n    runs that may wait in all; more are refused (503) (default 32)\n" in printed.output
    assert "BUBBLELINE_HOSTS=a.example,b.example\n" in printed.output
    assert re.findall(r"^(\w+)=", printed.output, re.MULTILINE) == [variable(field.name) for field in fields(Config)]
    assert all(each.meaning for each in settings(Config()))


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_run_listens_where_the_settings_say_unless_it_is_told_itself():
    def served(*given: str, **environ: str) -> str:
        """The address in the commands of `make run`, none of which is run."""
        environ |= {"PATH": os.environ["PATH"]}
        command = ["make", "--dry-run", "run", *given]
        printed = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True).stdout
        return printed.partition("app.py serve ")[2].partition("\n")[0]

    own = {"BUBBLELINE_HOST": "0.0.0.0", "BUBBLELINE_PORT": "8000"}
    assert served() == "--host 127.0.0.1 --port 5000"
    assert served(**own) == "--host 0.0.0.0 --port 8000"
    assert served("PORT=9000", **own) == "--host 0.0.0.0 --port 9000"


def test_a_setting_that_is_illegal_is_refused_in_one_sentence():
    refused = CliRunner(env={"BUBBLELINE_QUEUE": "none"}).invoke(cli, ["settings"])
    assert refused.exit_code == 1
    assert refused.output == "Error: BUBBLELINE_QUEUE must be a whole number from 1 to 10000, not 'none'\n"


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
