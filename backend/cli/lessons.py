"""Commands for lecturers: list lessons, check their files, write one lesson as a file.

Exit codes: 0 done, 1 a file has mistakes, 2 there is no such lesson.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from backend.cli.options import config, write_file
from backend.config import PROJECT
from backend.errors import RequestError
from backend.lessons.export import built, lesson_file
from backend.lessons.format.markdown import PICTURES
from backend.lessons.lesson import LANGUAGES, Broken
from backend.lessons.shelf import Shelf, read, shelf_of
from backend.lessons.values import LessonError

BUILT = PROJECT / "static" / "vendor" / "app"
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
language_option = click.option(
    "--lang", type=click.Choice(LANGUAGES), default=LANGUAGES[0], show_default=True, help="language"
)


@click.group()
def lessons() -> None:
    """Lessons: those of bubbleline, and those in the folder BUBBLELINE_LESSONS."""


@lessons.command(name="list")
@language_option
def list_lessons(lang: str) -> None:
    """Print every lesson: number, name, minutes, questions, title."""
    entries = _shelf().entries(lang)
    width = max((len(entry.slug) for entry in entries), default=0)
    for entry in entries:
        if isinstance(entry, Broken):
            click.echo(f"{entry.number:3}  {entry.slug:<{width}}  {entry.problems[0].text()}")
        else:
            click.echo(
                f"{entry.number:3}  {entry.slug:<{width}}  {entry.minutes:2} min  {len(entry.questions):2} questions  "
                f"{entry.title}"
            )


@lessons.command()
@click.argument("folder", type=FOLDER, required=False)
def check(folder: Path | None) -> None:
    """Check every lesson of FOLDER, or of the server: print file, line and cause of each mistake."""
    shelf = _shelf() if folder is None else Shelf((folder,))
    entries = [read(file) for file in shelf.files()]
    mistakes = [problem for entry in entries if isinstance(entry, Broken) for problem in entry.problems]
    for problem in mistakes:
        click.echo(problem.text(), err=True)
    if not entries:
        click.echo("no lessons: files are named like en/02-gpipe.md", err=True)
        sys.exit(1)
    click.echo(f"{len(entries)} files, {len(mistakes)} mistakes")
    sys.exit(1 if mistakes else 0)


@lessons.command()
@click.argument("slug")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="file; by default SLUG.html")
@language_option
def export(slug: str, output: Path | None, lang: str) -> None:
    """Write the lesson SLUG as one HTML file, which needs no server and no network."""
    try:
        lesson = _shelf().lesson(slug, lang)
        script, style = built(BUILT / "js" / "lesson-file.js"), built(BUILT / "css" / "learn.css")
        own = config().lessons
        text = lesson_file(lesson, lang, script, style, own and own / PICTURES)
    except (RequestError, LessonError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    path = output or Path(f"{slug}.html")
    write_file(path, text)
    click.echo(f"{path}: {lesson.title}, {len(text.encode()) // 1024} kB")


def _shelf() -> Shelf:
    """Return the lessons of a server with the present environment."""
    return shelf_of(config().lessons)
