"""The lessons that there are: those of bubbleline, and those of a lecturer's own folder, which come on top.

A folder has files in ``en/`` and ``zh/``; those beside these folders are shown in every language. A file that changes
is read again; one with a mistake is listed with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from backend.config import PROJECT
from backend.errors import RequestError, message
from backend.lessons.format.markdown import PICTURES
from backend.lessons.format.parse import MOST_BYTES, lesson_of, place_of
from backend.lessons.lesson import LANGUAGES, Broken, Lesson, Problem

OWN = PROJECT / "backend" / "lessons"
GALLERY = OWN / "gallery"  # a lesson of nothing but scenes and notes, which the list does not show
BROKEN = "lessons.broken"  # the code of what is said of a file with mistakes
MOST_FILES = 200  # of one folder and language
HEAD_TITLE = re.compile(r"^title: (.+)$", re.MULTILINE)
ANY = ""  # the language of files that are beside the folders

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class File:
    """A lesson's file: its folder of lessons, its path in it, its language, and what changes when it does."""

    folder: Path
    name: str
    language: str
    changed: int  # ns
    size: int  # bytes
    pictures: int  # ns: when a picture was last added to the folder or removed


@dataclass(frozen=True)
class Shelf:
    """The lessons of some folders; those of a later folder replace those of an earlier one with the same slug."""

    folders: tuple[Path, ...] = (OWN,)

    def files(self) -> list[File]:
        """List all files, of earlier folders first."""
        return [file for folder in self.folders for file in _files(folder)]

    def stamp(self) -> Stamp:
        """Return what changes whenever a lesson does."""
        return tuple((f"{file.folder}/{file.name}", file.changed, file.size, file.pictures) for file in self.files())

    def entries(self, language: str) -> list[Lesson | Broken]:
        """Return every lesson in a language, in their order; in another one where this language lacks it."""
        entries = [read(file) for file in self._chosen(language)]
        return sorted(entries, key=lambda each: (each.number, each.slug))

    def _chosen(self, language: str) -> list[File]:
        """Return the file of each lesson in a language, in their order."""
        chosen: dict[str, tuple[int, File]] = {}
        for place, file in enumerate(self.files()):
            rank = (file.language in (language, ANY)) * len(self.folders) * MOST_FILES * 4 + place
            slug = place_of(file.name)[1]
            if rank >= chosen.get(slug, (-1, file))[0]:
                chosen[slug] = (rank, file)
        return sorted((file for _, file in chosen.values()), key=lambda file: place_of(file.name))

    def has(self, slug: str) -> bool:
        """Return whether there is a lesson of this name, perhaps with mistakes; reads no file."""
        return any(place_of(file.name)[1] == slug for file in self.files())

    def neighbours(self, slug: str, language: str) -> tuple[Title | None, Title | None]:
        """Return the lessons before and after one. Bubbleline's own are read no further than to their titles."""
        files = self._chosen(language)
        at = next(place for place, file in enumerate(files) if place_of(file.name)[1] == slug)
        before = (title for file in reversed(files[:at]) if (title := title_of(file)))
        after = (title for file in files[at + 1 :] if (title := title_of(file)))
        return next(before, None), next(after, None)

    def lesson(self, slug: str, language: str) -> Lesson:
        """Return a lesson. Raises RequestError for one that there is not, or that has a mistake."""
        file = next((file for file in self._chosen(language) if place_of(file.name)[1] == slug), None)
        if file is None:
            raise RequestError(
                "slug", slug[:80], message("lessons.unknown", "There is no lesson of this name."), kind="unknown"
            )
        found = read(file)
        if isinstance(found, Broken):
            first = found.problems[0]
            why = message(
                "lessons.broken", "This lesson has a mistake in {file}, line {line}: {cause}",
                file=first.file, line=first.line, cause=first.cause,
            )  # fmt: skip
            raise RequestError("slug", slug[:80], why, kind="unknown")
        return found


def scenes_or_lesson(own: Path | None, slug: str, language: str) -> Lesson:
    """Return what is presented step by step: the gallery of scenes, or a lesson. Raises RequestError."""
    shelf = Shelf((GALLERY,)) if slug == GALLERY.name else shelf_of(own)
    return shelf.lesson(slug, language)


def shelf_of(own: Path | None) -> Shelf:
    """Return the shelf of a server: bubbleline's lessons, and those of a lecturer's folder if there is one."""
    return Shelf((OWN,) if own is None else (OWN, own))


@lru_cache(maxsize=512)
def read(file: File) -> Lesson | Broken:
    """Read a file, or return what it was read as if it has not changed since."""
    try:
        with (file.folder / file.name).open("rb") as stream:
            source = stream.read(MOST_BYTES + 1)
    except OSError as error:
        why = message("lessons.unreadable", "this file cannot be read: {reason}", reason=error.strerror or "")
        return Broken(Path(file.name).stem, 999, file.language, file.name, (Problem(file.name, 1, why),))
    return lesson_of(source, file.name, file.language or LANGUAGES[0], file.folder / PICTURES)


@dataclass(frozen=True)
class Title:
    """What a link to a lesson needs."""

    slug: str
    number: int
    title: str
    language: str


def title_of(file: File) -> Title | None:
    """Return a lesson's title, None for a file with mistakes."""
    if file.folder != OWN:
        entry = read(file)
        return None if isinstance(entry, Broken) else Title(entry.slug, entry.number, entry.title, entry.language)
    number, slug = place_of(file.name)
    head = (OWN / file.name).read_text(encoding="utf-8")
    found = HEAD_TITLE.search(head)
    return Title(slug, number, found[1], file.language) if found else None


def _files(folder: Path) -> Iterator[File]:
    try:
        pictures = (folder / PICTURES).stat().st_mtime_ns
    except OSError:
        pictures = 0
    for language in (ANY, *LANGUAGES):
        inner = folder / language
        try:
            names = sorted(each.name for each in inner.iterdir() if each.suffix == ".md")[:MOST_FILES]
        except OSError:
            continue
        for name in names:
            try:
                state = (inner / name).stat()
            except OSError:
                continue
            shown = f"{language}/{name}" if language else name
            yield File(folder, shown, language, state.st_mtime_ns, state.st_size, pictures)
