"""The example notebook in JupyterLab: schedules show themselves, and a live timeline and Python change each other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from backend.config import PROJECT
from tests.support import NOT_LOADED, PATIENCE_S, until

pytestmark = pytest.mark.skipif(find_spec("jupyterlab") is None, reason="JupyterLab is not installed")
QUIET = ("--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.port=0",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
         "--ServerApp.jpserver_extensions=jupyter_lsp=False",
         "--ServerApp.jpserver_extensions=jupyter_server_terminals=False")  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab in a folder with the example, without any settings of this machine."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(PROJECT / "docs" / "examples" / "notebook.ipynb", work)
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environ = os.environ | folders | {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONPATH": f"{PROJECT}:{NOT_LOADED}"}
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, "-m", "jupyterlab", *QUIET, f"--ServerApp.root_dir={work}"]
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
    described = tmp_path / "RUNTIME" / f"jpserver-{process.pid}.json"

    def listens() -> bool:
        assert process.poll() is None, (tmp_path / "log").read_text()
        written = described.exists() and described.read_text().endswith("}")
        return written and "is running at" in (tmp_path / "log").read_text()

    try:
        until(listens)
        yield json.loads(described.read_text())["url"]
    finally:
        process.terminate()  # it ends its kernels
        process.wait(PATIENCE_S)


def run(page: Page, cell: int) -> Locator:
    """Run a cell of code, counted from 1, and return its output."""
    node = page.locator(".jp-CodeCell").nth(cell - 1)
    node.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(node.locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    expect(node.locator(".jp-InputPrompt")).not_to_have_text("[ ]:")
    return node.locator(".jp-OutputArea")


def test_the_example_runs_in_jupyterlab_and_its_timeline_and_python_change_each_other(
    browser: Browser, lab: str
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1800})
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(f"{lab}lab/tree/notebook.ipynb?reset")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    expect(run(page, 1).locator("svg").first).to_be_visible()
    expect(run(page, 2)).to_contain_text("0.2727")
    expect(run(page, 3)).to_contain_text("Rank 0 is idle")
    expect(run(page, 4)).to_contain_text("v-zb")
    live = run(page, 5).locator("bubble-line")
    expect(live.locator("b").get_by_text("11.1 %")).to_be_visible()
    live.get_by_label("Devices p").press("ArrowRight")
    expect(live.get_by_text("p 5 · m 8").first).to_be_visible()
    live.get_by_label("Schedule").select_option("dualpipe")
    expect(live.get_by_text("p 6 · m 12").first).to_be_visible()
    live.get_by_role("application").press("ArrowRight")
    page.keyboard.press("Enter")
    expect(run(page, 6)).to_contain_text("(6, {'op': '0F0', 'rank': 0, 'at': 0.5}, 0.")
    page.close()
