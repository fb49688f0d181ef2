"""Which worker runs which files of tests: each stays in a folder as long as it can, and two seldom share one.

Tests of a cluster mostly wait and tests of the page keep more than a core busy. Side by side they use both cores; the
browser, the servers and the runner that a folder's tests share are then started once.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# Of another folder, but like the runner's tests they import torch's compiler, which takes four seconds.
WITH_TORCH = ("tests/schedule/families/test_families.py", "tests/schedule/interop/test_torch_runtime.py")


class FolderScheduling(LoadFileScheduling):
    """Gives a worker the next file of its folder, else the first of a folder that no other worker is in."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self.folders: dict[Any, str] = {}  # by worker

    def _assign_work_unit(self, node: Any) -> None:
        first: dict[str, str] = {}  # file of each folder
        for file in self.workqueue:
            first.setdefault(folder_of(file), file)
        taken = {folder for other, folder in self.folders.items() if other is not node}
        folder = self.folders.get(node)
        if folder not in first:
            folder = next((each for each in first if each not in taken), next(iter(first)))
        self.folders[node] = folder
        self.workqueue.move_to_end(first[folder], last=False)  # from where the base class takes it
        super()._assign_work_unit(node)


def folder_of(file: str) -> str:
    """Return the folder of tests/ whose worker runs a file."""
    return "runner" if file in WITH_TORCH else file.split("/")[1]
