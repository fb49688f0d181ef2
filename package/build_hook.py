"""Hatch's hooks: the wheel is the package that layout.py describes; requirements*.txt say what it requires."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Hatch loads this file alone
from package.layout import PACKAGE, requirements, wheel_files


class Requirements(MetadataHookInterface):
    """The requirements and extras of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read requirements*.txt; extras that no file lists are in pyproject.toml beside the name of this hook."""
        metadata["dependencies"], extras = requirements(Path(self.root))
        metadata["optional-dependencies"] = extras | self.config.get("extras", {})


class Package(BuildHookInterface[Any]):
    """The files of the wheel."""

    folder = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files of the wheel to a folder that Hatch then packs, and check that of an sdist they are there."""
        files = {} if version == "editable" else wheel_files(Path(self.root))
        if self.target_name != "wheel" or not files:
            return
        self.folder = tempfile.mkdtemp(prefix="bubbleline-wheel-")
        for name, data in files.items():
            path = Path(self.folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        build_data["force_include"][self.folder] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the folder."""
        if self.folder:
            shutil.rmtree(self.folder)
