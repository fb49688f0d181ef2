"""The commands of `python app.py`, a module for each group of them."""

from __future__ import annotations

from backend.cli.check import check
from backend.cli.compare import compare
from backend.cli.copy_database import copy_database
from backend.cli.costs import costs
from backend.cli.database import backup, restore
from backend.cli.import_files import import_files
from backend.cli.lessons import lessons
from backend.cli.pareto import pareto_command
from backend.cli.plan import plan_command
from backend.cli.run import run
from backend.cli.run_sweep import devices, run_sweep
from backend.cli.schedule import export, laws, show, sweep
from backend.cli.tasks import tasks

COMMANDS = (
    show,
    sweep,
    export,
    check,
    compare,
    costs,
    import_files,
    laws,
    lessons,
    pareto_command,
    plan_command,
    run,
    run_sweep,
    devices,
    backup,
    restore,
    copy_database,
    tasks,
)
