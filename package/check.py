"""Build the distributions, twice, and use them as people do in fresh environments: `make dist`.

What is checked is printed, with sizes and times; the first thing that is wrong ends with a sentence and exit code 1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

from backend import __version__
from package.layout import NOTICES, PACKAGE

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
UV = str(Path(sys.executable).with_name("uv"))
MADE = ("fflate.js", "fflate.d.ts", "socket.io.esm.min.js", "socket.io.esm.min.d.ts", "tables.json", Path(NOTICES).name)
PAGES = ("/", "/?family=1f1b&p=4&m=8", "/embed?family=1f1b", "/learn", "/learn/1f1b", "/learn/1f1b?lang=zh", "/build")
ADDRESS = re.compile(r"""(?:src|href)="(/[^"#]*)"|url\(["']?(/[^"')]+)|(?:from|import\()"(\./[^"]+\.js)\"""")
INSTALL = "pip install 'bubbleline[run]'"
SHOW = ("show", "1f1b", "-p", "4", "-m", "8")
HEAVY = ("torch", "plotly", "flask", "gevent", "jinja2", "PIL", "numba")  # that `show` does not load
START_S = 60.0


class WrongError(Exception):
    """What is wrong, as a sentence."""


def require(true: object, what: str) -> None:
    """Raise WrongError unless it is so."""
    if not true:
        raise WrongError(what)


def say(what: str, began: float | None = None) -> None:
    """Print what was done, and how long it took since `began`."""
    print(f"  {what}" + (f"  ({time.monotonic() - began:.1f} s)" if began is not None else ""), flush=True)


def run(*command: object, environ: Mapping[str, str] = os.environ, cwd: Path = ROOT, fails: bool = False) -> str:
    """Run a program and return what it printed. Raises WrongError where it fails, or does not although it `fails`."""
    done = subprocess.run(
        list(map(str, command)), env=environ, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    require(
        bool(done.returncode) == fails, f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}"
    )
    return done.stdout


def build(folder: Path) -> list[Path]:
    """Build sdist, and the wheel from it, of the files of this checkout, copied to a folder and bundled there."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in [*filter(None, names), *(f"static/vendor/{each}" for each in MADE)]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "node_modules").symlink_to((ROOT / "node_modules").resolve())
    run("npm", "run", "--silent", "bundle", cwd=folder)
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    run(
        UV,
        "build",
        "--quiet",
        "--python",
        sys.executable,
        environ=os.environ | {"SOURCE_DATE_EPOCH": epoch},
        cwd=folder,
    )
    return sorted((folder / "dist").glob(f"{PACKAGE}-*"))


def check_builds() -> tuple[Path, Path]:
    """Build in two folders, compare, keep one in dist/; return (wheel, sdist)."""
    found = []
    for _ in range(2):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            files = build(Path(folder))
            found.append({path.name: sha256(path.read_bytes()).hexdigest() for path in files})
            DIST.mkdir(exist_ok=True)
            kept = [Path(shutil.copy(path, DIST)) for path in files]
        say(f"built {' and '.join(found[-1])}", began)
    require(found[0] == found[1], f"two builds of one commit differ: {found}")
    sdist, wheel = sorted(kept, key=lambda path: path.suffix != ".gz")
    for path in (wheel, sdist):
        size = path.stat().st_size
        say(f"{path.name}: {size / 1e6:.2f} MB, sha256 {found[0][path.name][:16]}..., the same from two folders")
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    require(tops == {PACKAGE, f"{PACKAGE}-{__version__}.dist-info"}, f"the wheel has {tops} at its top")
    with tarfile.open(sdist) as archive:
        require(len(archive.getnames()) > 100, "the sdist is empty")
    return wheel, sdist


def pythons() -> list[Path]:
    """Return the interpreters to check with: Python 3.11, and the newest that there is."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    newest = max((each.rpartition("3.")[2] for each in classifiers if "Python :: 3." in each), key=int)
    got = subprocess.run([UV, "python", "install", "--quiet", f"3.{newest}"], capture_output=True, check=False)
    places = [*os.environ["PATH"].split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    places += map(str, Path(run(UV, "python", "dir").strip()).glob("*/bin"))
    found: dict[tuple[int, ...], Path] = {}
    for path in (path for place in places for path in sorted(Path(place).glob("python3.[0-9]*"))):
        if re.fullmatch(r"python3\.\d+", path.name):
            asked = "import sys, venv, ensurepip; print(*sys.version_info[:3])"
            answer = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False)
            if answer.returncode == 0:
                found.setdefault(tuple(map(int, answer.stdout.split())), path)
    usable = sorted(version for version in found if version >= (3, 11))
    require(usable and usable[0][:2] == (3, 11), "there is no Python 3.11 here")
    if usable[-1][1] < int(newest):
        why = "uv cannot fetch it here" if got.returncode else "uv brought another"
        say(f"Python 3.{newest} could not be had: {why}; the newest here is {'.'.join(map(str, usable[-1]))}")
    return [found[version] for version in dict.fromkeys((usable[0], usable[-1]))]


class Installed:
    """An environment of its own, in a folder, with the user's data in the same folder."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "env" / "bin"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BUBBLELINE_"))}
        self.environ = kept | {"XDG_DATA_HOME": str(folder / "data"), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        run(python, "-m", "venv", folder / "env", environ=self.environ)

    def pip(self, *arguments: object) -> None:
        """Install with pip."""
        run(self.bin / "pip", "install", "--quiet", "--disable-pip-version-check", *arguments, environ=self.environ)

    def uv(self, *arguments: object) -> None:
        """Install with uv, which takes much less time for torch."""
        run(UV, "pip", "install", "--quiet", "--python", self.bin / "python", *arguments, environ=self.environ)

    def command(self, *arguments: object, fails: bool = False) -> str:
        """Run `bubbleline` in a folder that has nothing."""
        return run(self.bin / PACKAGE, *arguments, environ=self.environ, cwd=self.folder, fails=fails)

    def python(self, *arguments: object) -> str:
        """Run the environment's Python there."""
        return run(self.bin / "python", *arguments, environ=self.environ, cwd=self.folder)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve on a free port; gives the address."""
        command = [str(self.bin / PACKAGE), "serve", "--port", "0"]
        with (self.folder / "server.log").open("w") as log:
            server = subprocess.Popen(
                command, env=self.environ, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=log
            )
        try:
            assert server.stdout is not None
            address = re.search(r"http://[\d.:]+", server.stdout.readline())
            require(address, f"the server does not start: {(self.folder / 'server.log').read_text()}")
            assert address is not None
            yield address[0]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(START_S)
        log_text = (self.folder / "server.log").read_text()
        require("Traceback" not in log_text, f"the server's log has a traceback:\n{log_text}")


def check_commands(installed: Installed) -> None:
    """Check what was installed, and the commands that need neither torch nor a server."""
    asked = f"import importlib.metadata as m; print(*{{str(f).split('/')[0] for f in m.files('{PACKAGE}')}})"
    tops = set(installed.python("-c", asked).split())
    require(tops == {PACKAGE, f"{PACKAGE}-{__version__}.dist-info", ".."}, f"site-packages has {tops} of it")
    for version in (installed.command("--version"), installed.python("-m", PACKAGE, "--version")):
        require(version == f"{PACKAGE} {__version__}\n", f"--version prints {version!r}")
    expected = run(sys.executable, "app.py", *SHOW)
    require(installed.command(*SHOW) == expected, "show prints something else than in the checkout")
    times = []
    for _ in range(5):
        began = time.monotonic()
        installed.command(*SHOW)
        times.append(time.monotonic() - began)
    asked = f"from {PACKAGE}.app import cli; cli({SHOW}, standalone_mode=False); import sys; print(*sys.modules)"
    loaded = set(installed.python("-c", asked).splitlines()[-1].split())
    require(not loaded & set(HEAVY), f"show loads {loaded & set(HEAVY)}")
    say(f"{PACKAGE} {' '.join(SHOW)}: {sorted(times)[2]:.2f} s, median of 5, warm")
    for form in ("svg", "png", "html", "torch-csv"):
        installed.command("export", "zb-h1", "--format", form, "-o", installed.folder / f"file.{form}")
        require((installed.folder / f"file.{form}").stat().st_size > 300, f"export --format {form} writes nothing")
    installed.command("lessons", "export", "1f1b", "--lang", "zh")
    for shell in ("zsh", "fish"):
        require("_COMPLETE=" in installed.command("completion", shell), f"completion {shell} prints no script")
    data = installed.folder / "data" / PACKAGE / "bubbleline.sqlite3"
    require(str(data) in installed.command("settings"), f"the database is not at {data}")
    say("version, show as in the checkout, export, lessons, completion, settings")


def check_api(installed: Installed) -> None:
    """Check the Python API, and what it says of extras that are not installed."""
    begun = "import bubbleline as bl; plan = bl.schedule('zb-h1', p=4, m=8); "
    said = installed.python("-c", f"{begun}print(plan.step_time, plan.link())")
    require(said == "27.0 http://127.0.0.1:5000/?family=zb-h1\n", f"the API says {said}")
    refused = installed.python("-c", f"{begun}\ntry: bl.Timeline\nexcept ImportError as error: print(error)")
    require("pip install 'bubbleline[notebook]'" in refused, f"without anywidget Timeline says {refused}")
    require("pip install 'bubbleline[mcp]'" in installed.command("mcp", fails=True), "mcp does not say what to install")
    say("import bubbleline; what Timeline and mcp need is said")


def check_refusal(installed: Installed) -> None:
    """Check what a run says without torch."""
    said = installed.command("run", "1f1b", "-p", "2", "-m", "4", fails=True)
    require(
        INSTALL in said and "Traceback" not in said and len(said.splitlines()) == 1, f"run without torch says {said}"
    )
    say(f"run without torch: {said.strip()}")


def check_run(installed: Installed) -> None:
    """Check a run with torch."""
    began = time.monotonic()
    said = installed.command("run", "1f1b", "-p", "2", "-m", "4").splitlines()
    require(json.loads(said[-1])["verified"] is True, f"the run is not verified: {said[-1][:300]}")
    say(f"run with torch: {said[0]}", began)


def check_server(installed: Installed) -> None:
    """Serve, fetch the pages and all that they name, and look at them in a browser."""
    began = time.monotonic()
    with installed.serving() as server:
        missing, seen = [], set()
        waiting = [f"{server}{page}" for page in PAGES]
        while waiting:
            address = waiting.pop()
            if address in seen:
                continue
            seen.add(address)
            try:
                with urlopen(address) as answer:
                    text = answer.read().decode(errors="replace") if len(seen) < 500 else ""
            except HTTPError as error:
                missing.append(f"{address}: {error.code}")
                continue
            named = [urljoin(address, next(filter(None, each))) for each in ADDRESS.findall(text)]
            assets = (each for each in named if re.search(r"\.(js|css|svg|json|png)$", urlsplit(each).path))
            waiting += [each.replace("&amp;", "&") for each in assets if each.startswith(server)]
        require(not missing, f"not served: {missing}")
        require(len(seen) > len(PAGES) + 20, f"only {len(seen)} files were named")
        with urlopen(f"{server}/readyz") as answer:
            require(json.load(answer)["ready"], "the server is not ready")
        say(f"served {len(PAGES)} pages and {len(seen) - len(PAGES)} files that they name, none missing", began)
        began = time.monotonic()
        look(server)
        say("in a browser: the schedule is drawn, a lesson and the workbench open, Run says what to install", began)
    require((installed.folder / "data" / PACKAGE).is_dir(), "no data was written to the user's folder")


def look(server: str) -> None:
    """Open pages in a browser; nothing may be missing, and the console stays empty."""
    from playwright.sync_api import expect, sync_playwright

    launch_browser = import_module("tests.support.page.browser").launch_browser  # tests have no types
    with sync_playwright() as playwright:
        browser = launch_browser(playwright)
        page = browser.new_page()
        problems: list[str] = []
        page.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("response", lambda got: problems.append(f"{got.url} {got.status}") if got.status >= 400 else None)
        for address in ("/learn/1f1b", "/build", "/?family=1f1b&p=4&m=8"):
            page.goto(f"{server}{address}", wait_until="networkidle")
            require(page.locator("canvas").count(), f"{address} shows no timeline")
        page.hover("#run")
        expect(page.locator("#run")).to_have_attribute("title", re.compile(re.escape(INSTALL)), timeout=1000 * START_S)
        browser.close()
    require(not problems, f"the browser says {problems}")


def check(python: Path, wheel: Path, sdist: Path, by_pip: bool) -> None:
    """Install and use the distributions in environments of one interpreter; the sdist where pip installs too."""
    print(run(python, "--version").strip(), flush=True)
    with tempfile.TemporaryDirectory(prefix="bubbleline-dist-") as folder:
        began = time.monotonic()
        installed = Installed(python, Path(folder))
        installed.pip(wheel) if by_pip else installed.uv(wheel)
        say(f"{'pip' if by_pip else 'uv pip'} install {wheel.name}", began)
        check_commands(installed)
        check_api(installed)
        check_refusal(installed)
        check_server(installed)
        if by_pip:
            began = time.monotonic()
            installed.pip("--force-reinstall", "--no-deps", sdist)
            require(installed.command(*SHOW) == run(sys.executable, "app.py", *SHOW), "of the sdist, show fails")
            say(f"pip install {sdist.name}", began)
        began = time.monotonic()
        installed.uv(f"{PACKAGE}[run,notebook,mcp] @ {wheel.as_uri()}")
        say("install the extras run, notebook and mcp", began)
        check_run(installed)
        live = installed.python("-c", "import bubbleline as bl; print(bl.Timeline('zb-h1', p=8).schedule.p)")
        require(live == "8\n", f"Timeline says {live}")
        installed.python("-c", "from bubbleline.assistants import server; server('http://127.0.0.1:5000')")


def main() -> int:
    """Check everything; return the exit code."""
    began = time.monotonic()
    try:
        print("dist/", flush=True)
        wheel, sdist = check_builds()
        for number, python in enumerate(pythons()):
            check(python, wheel, sdist, by_pip=number == 0)
        print("uvx", flush=True)
        found = run(
            UV, "tool", "run", "--quiet", "--from", wheel, PACKAGE, "--version", cwd=Path(tempfile.gettempdir())
        )
        say(f"uvx --from {wheel.name} {PACKAGE} --version: {found.strip()}")
    except WrongError as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    print(f"make dist: all is well, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
