"""The site without a server: timeline, workbench and lessons as files, for GitHub Pages or a disk.

The pages are those that a server sends, with other addresses. What they ask a server for at their start is in them; the
page's requests (static/js/data/api.ts) take it from there, and say of everything else that it needs a server.
"""

from __future__ import annotations

import json
import re
import tempfile
from base64 import b64encode
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zlib import compress

from flask.testing import FlaskClient
from markupsafe import Markup

from backend.config import PROJECT, Config
from backend.lessons.export import built, elements, lesson_file
from backend.lessons.lesson import LANGUAGES, Broken
from backend.lessons.page import render
from backend.lessons.shelf import Shelf, shelf_of
from backend.web.factory import create_app
from backend.web.services import NAME

BUILT = PROJECT / "static" / "vendor" / "app"
COPIED = {
    "site.js": BUILT / "js" / "site.js",
    "site-lesson.js": BUILT / "js" / "site-lesson.js",
    "main.css": BUILT / "css" / "main.css",
    "build.css": BUILT / "css" / "build.css",
    "learn.css": BUILT / "css" / "learn.css",
    "charts.css": PROJECT / "static" / "css" / "panels" / "charts.css",
    "icon.svg": PROJECT / "static" / "img" / "icon.svg",
}
PAGES = {  # by file the address, of one without a first picture, and the style sheet
    "index.html": ("/?family=v-half", "main.css"),
    "build.html": ("/build", "build.css"),
}
LINKS = {"/?": "index.html?", '/"': 'index.html"', "/learn": "learn/index.html", "/build": "build.html"}
GONE = re.compile(  # previews of links, what is loaded ahead, and the other scripts and style sheets
    r'  <meta (?:property="og|name="twitter)[^>]*>\n|  <link rel="(?:modulepreload|preload|stylesheet)"[^>]*>\n'
    r'|  <script type="module"[^>]*></script>\n|    <a [^>]*href="/teach[^>]*>[^<]*</a>\n'
)
LESSON = re.compile(r'href="/learn/([\w-]+)')
INLINE = re.compile(r'<meta http-equiv[^>]*>\n|<style></style>|<script type="module"></script>\n')


def write_site(folder: Path) -> list[Path]:
    """Write the site to a folder, which may exist; return its files. Raises LessonError where there is no bundle."""
    for name, source in COPIED.items():
        built(source)  # raises where it is missing
        _write(folder / name, source.read_bytes())
    config = Config.from_env()
    with tempfile.TemporaryDirectory(prefix="bubbleline-site-") as data:
        app = create_app(replace(config, database=Path(data) / "site.sqlite3", redis=""))
        try:
            client = app.test_client()
            _write(folder / "answers.js", _script(_answers(client)).encode())
            for name, (address, style) in PAGES.items():
                _write(folder / name, _page(_text(client, address), style).encode())
        finally:
            services = app.extensions[NAME]
            services.runs.stop()
            services.links.store.close()
    shelf = shelf_of(config.lessons)
    for language in LANGUAGES:
        _write_lessons(folder / "learn", shelf, language)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _answers(client: FlaskClient) -> dict[str, Any]:
    """Return what the pages ask for at their start, by address."""
    tasks = "/api/tasks"
    listed = json.loads(_text(client, tasks))
    each = [f"{tasks}/{task['slug']}" for task in listed["tasks"]]
    asked = {address: json.loads(_text(client, address)) for address in ("/api/families", "/api/models", *each)}
    return asked | {tasks: listed}


def _text(client: FlaskClient, address: str) -> str:
    answer = client.get(address, headers={"Accept-Language": "en"})
    assert answer.status_code == 200, f"{address}: {answer.status}"
    return answer.get_data(as_text=True)


def _script(answers: dict[str, Any]) -> str:
    """Return the script that holds the answers, deflated: they are a quarter as long."""
    kept = b64encode(compress(json.dumps(answers, separators=(",", ":"), ensure_ascii=False).encode(), 9)).decode()
    return f'globalThis.keptAnswers = "{kept}";\n'


def _page(html: str, style: str) -> str:
    """Return a page with the addresses of the site."""
    html = GONE.sub("", html).replace("/static/img/icon.svg", "icon.svg")
    html = html.replace(
        "<html ", '<html data-learn="learn/index.html" data-learn-zh="learn/index.zh.html" data-build="build.html" ', 1
    )
    for old, new in LINKS.items():
        html = html.replace(f'href="{old}', f'href="{new}')
    scripts = "".join(f'  <script defer src="{each}"></script>\n' for each in ("answers.js", "site.js"))
    styles = "".join(f'  <link rel="stylesheet" href="{each}">\n' for each in (style, "charts.css"))
    return html.replace("</head>", f"{styles}{scripts}</head>", 1)


def _way(language: str, query: str, caption: str) -> Markup:
    """Return what a lesson has in place of a picture: nothing where its script draws the view, else a link to it."""
    if elements(query):
        return Markup("")
    words, look = ("在时间线上打开", "&lang=zh") if language == "zh" else ("Open it on the timeline", "")
    return Markup('<p><a class="button soft" href="../index.html{}">{}</a></p>').format(
        f"?{query.lstrip('/?')}{look}", words
    )


def _write_lessons(folder: Path, shelf: Shelf, language: str) -> None:
    """Write the lessons of a language, and their list."""
    suffix = "" if language == LANGUAGES[0] else f".{language}"
    entries = [entry for entry in shelf.entries(language) if not isinstance(entry, Broken)]
    for lesson in entries:
        html = INLINE.sub("", lesson_file(lesson, language, "", "", picture=partial(_way, language)))
        html = html.replace('href="/?', 'href="../index.html?').replace('href="/build', 'href="../build.html')
        html = LESSON.sub(rf'href="\1{suffix}.html', html)
        head = '<link rel="stylesheet" href="../learn.css">\n<script defer src="../site-lesson.js"></script>\n'
        html = html.replace("</head>", f"{head}</head>", 1)
        body = html.index(">", html.index("<body")) + 1
        html = html[:body] + render("learn/site_head.html", language, suffix=suffix, list=False) + html[body:]
        _write(folder / f"{lesson.slug}{suffix}.html", html.encode())
    page = render("learn/site_list.html", language, entries=entries, suffix=suffix, list=True)
    _write(folder / f"index{suffix}.html", page.encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
