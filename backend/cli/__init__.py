"""The commands of `python app.py`, a module for each group of them."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import click


class Commands(UserDict[str, Any]):
    """Commands by their names. One that is still the text MODULE:FUNCTION is loaded when it is read: all modules
    together take longer to load than most commands to run.
    """

    def __getitem__(self, name: str) -> click.Command:
        """Return a command. Raises KeyError."""
        found = super().__getitem__(name)
        if isinstance(found, str):
            module, _, function = found.partition(":")
            found = self.data[name] = getattr(import_module(f"{__package__}.{module}"), function)
        command: click.Command = found
        return command


COMMANDS = Commands(
    {
        "show": "schedule:show",
        "sweep": "schedule:sweep",
        "export": "schedule:export",
        "check": "check:check",
        "laws": "schedule:laws",
        "class-demo": "crowd.class_demo:class_demo",
        "compare": "compare:compare",
        "costs": "costs:costs",
        "import": "measured.import_files:import_files",
        "diagnose": "measured.diagnose:diagnose_command",
        "lessons": "lessons:lessons",
        "pareto": "pareto:pareto_command",
        "plan": "plan:plan_command",
        "run": "run:run",
        "run-sweep": "run_sweep:run_sweep",
        "devices": "run_sweep:devices",
        "backup": "stored.database:backup",
        "restore": "stored.database:restore",
        "copy-database": "stored.copy_database:copy_database",
        "tasks": "tasks:tasks",
    }
)
