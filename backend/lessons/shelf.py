"""The lessons that there are: those of bubbleline, and those of a lecturer's own folder, which come on top.

A folder has files in ``en/`` and ``zh/``; those beside these folders are shown in every language. A file that changes
is read again; one with a mistake is listed with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from backend.config import PROJECT
from backend.errors import RequestError, message
from backend.lessons.format.parse import MOST_BYTES, lesson_of
from backend.lessons.lesson import LANGUAGES, Broken, Lesson, Problem

OWN = PROJECT / "backend" / "lessons"
GALLERY = OWN / "gallery"  # a lesson of nothing but scenes and notes, which the list does not show
MOST_FILES = 200  # of one folder and language
ANY = ""  # the language of files that are beside the folders

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class File:
    """A lesson's file: its folder of lessons, its path in it, its language, and what changes when it does."""

    folder: Path
    name: str
    language: str
    changed: int  # ns
    size: int  # bytes


@dataclass(frozen=True)
class Shelf:
    """The lessons of some folders; those of a later folder replace those of an earlier one with the same slug."""

    folders: tuple[Path, ...] = (OWN,)

    def files(self) -> list[File]:
        """List all files, of earlier folders first."""
        return [file for folder in self.folders for file in _files(folder)]

    def stamp(self) -> Stamp:
        """Return what changes whenever a lesson does."""
        return tuple((f"{file.folder}/{file.name}", file.changed, file.size) for file in self.files())

    def entries(self, language: str) -> list[Lesson | Broken]:
        """Return every lesson in a language, in their order; in another one where this language lacks it."""
        chosen: dict[str, tuple[int, Lesson | Broken]] = {}
        for place, file in enumerate(self.files()):
            entry = read(file)
            rank = (file.language in (language, ANY)) * len(self.folders) * MOST_FILES * 4 + place
            if rank >= chosen.get(entry.slug, (-1, entry))[0]:
                chosen[entry.slug] = (rank, entry)
        return sorted((entry for _, entry in chosen.values()), key=lambda each: (each.number, each.slug))

    def lesson(self, slug: str, language: str) -> Lesson:
        """Return a lesson. Raises RequestError for one that there is not, or that has a mistake."""
        found = next((entry for entry in self.entries(language) if entry.slug == slug), None)
        if found is None:
            raise RequestError(
                "slug", slug[:80], message("lessons.unknown", "There is no lesson of this name."), kind="unknown"
            )
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
    return lesson_of(source, file.name, file.language or LANGUAGES[0])


def _files(folder: Path) -> Iterator[File]:
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
            yield File(folder, shown, language, state.st_mtime_ns, state.st_size)
