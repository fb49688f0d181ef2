"""Markdown to HTML: CommonMark with tables, formulas and computed values; what a file contains is always escaped.

No HTML of a file reaches a page, a link goes to http, https or a place of this server, and a formula becomes MathML
whose texts are escaped. Values are ``{{ expression }}`` (values.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from backend.errors import message
from backend.lessons.values import Budget, LessonError, compute, mistake

MOST_NESTING = 20
LONGEST_FORMULA = 400  # characters
VALUE = re.compile(r"\{\{(.{1,600}?)\}\}", re.DOTALL)
LINK = re.compile(r"(https?://[^\s]+|/(?!/)[^\s]*|[#?][^\s]*)", re.IGNORECASE)
PICTURES = "pictures"  # the folder beside those of the languages
PICTURE_KINDS: Mapping[str, str] = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif",
    "svg": "image/svg+xml",
}  # fmt: skip
PICTURE = re.compile(rf"(?:\.\./)?{PICTURES}/([A-Za-z0-9][\w-]{{0,60}}\.({'|'.join(PICTURE_KINDS)}))", re.ASCII)
MOST_PICTURE = 2_000_000  # bytes
PERCENT = re.compile(r"(\d) %")  # a number and its sign stay on one line
RELATIVE = re.compile(r"\.{0,2}/?\w[\w./-]*", re.ASCII)  # a mistake unless it is a picture
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
TAG = re.compile(
    r"math|semantics|none|m(row|i|n|o|text|space|sup|sub|subsup|frac|sqrt|root|over|under|underover|table|tr|td|style"
    r"|padded|phantom|enclose|multiscripts|prescripts)"
)
ATTRIBUTES = frozenset(
    (
        *("display", "displaystyle", "mathvariant", "stretchy", "fence", "form", "separator", "accent", "accentunder"),
        *("lspace", "rspace", "width", "height", "depth", "linethickness", "columnalign", "rowspacing"),
        *("columnspacing", "movablelimits", "minsize", "maxsize", "scriptlevel", "largeop", "symmetric", "notation"),
        "columnlines",
    )
)
"""Elements and attributes of formulas."""
FORBIDDEN_TEX = re.compile(r"\\(href|style|class|unicode)\b")  # attributes, which a formula does not need


def reader() -> MarkdownIt:
    """Return a parser for whole files and for the texts of directives."""
    md = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": MOST_NESTING}).enable("table")
    md.use(front_matter_plugin).use(colon_fence_plugin)
    md.use(dollarmath_plugin, allow_digits=False, renderer=_formula)
    md.inline.ruler.before("escape", "value", _value_rule)
    md.add_render_rule("value", _show_value)
    md.validateLink = lambda url: bool(LINK.fullmatch(url) or RELATIVE.fullmatch(url))  # type: ignore[method-assign]
    return md


def is_picture(path: Path) -> bool:
    """Return whether a file of a picture's size is there."""
    try:
        return path.is_file() and path.stat().st_size <= MOST_PICTURE
    except OSError:
        return False


def _value_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "{":
        return False
    found = VALUE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("value", "", 0).content = " ".join(found[1].split())
    state.pos = found.end()
    return True


def _show_value(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    number, text = tokens[at].meta.get("number"), tokens[at].meta.get("text", "")
    return f'<data class="value" value="{number!r}">{escape(text)}</data>'


def _formula(content: str, options: Any) -> str:
    """Return MathML. Raises LessonError for what is no formula."""
    if len(content) > LONGEST_FORMULA:
        raise mistake("lessons.formula_too_long", "a formula has at most {most} characters", most=LONGEST_FORMULA)
    if FORBIDDEN_TEX.search(content):
        raise mistake("lessons.formula_command", "a formula has no {command} here", command="\\href, \\style, \\class")
    try:
        return _checked(str(convert(content, display="block" if options["display_mode"] else "inline")))
    except Exception as error:
        shown = type(error).__name__
        raise mistake(
            "lessons.bad_formula", "the formula {given} cannot be read ({error})", given=content[:40], error=shown
        ) from None


def _checked(mathml: str) -> str:
    """Return MathML written anew from its elements: the converter does not escape the text of a formula.

    Raises ValueError for what is no MathML.
    """
    root = ElementTree.fromstring(mathml.replace(f' xmlns="{NAMESPACE}"', ""))  # has no DTD
    for element in root.iter():
        if not TAG.fullmatch(element.tag) or not ATTRIBUTES.issuperset(element.attrib):
            raise ValueError(element.tag)
    return ElementTree.tostring(root, encoding="unicode")


class Text:
    """The prose of one file: renders parts of it, computes their values, and collects what is wrong by line."""

    def __init__(self, budget: Budget, report: Any, pictures: Path | None = None) -> None:
        self.md = reader()
        self.budget = budget
        self.report = report  # (line, cause)
        self.pictures = pictures

    def parse(self, source: str, first_line: int) -> list[Token]:
        """Return the tokens of a text that begins on a line of the file, with their values computed."""
        tokens = self.md.parse(source, {})
        for token in tokens:
            if token.type == "inline":
                self._fill(token, first_line + (token.map[0] if token.map else 0))
        return tokens

    def _fill(self, inline: Token, line: int) -> None:
        """Compute the values of a paragraph, and check its formulas, pictures and links."""
        for child in inline.children or ():
            if child.type in ("softbreak", "hardbreak"):
                line += 1
            elif child.type == "value":
                self._compute(child, line)
            elif child.type == "text":
                child.content = PERCENT.sub("\\1\u00a0%", child.content)
            elif child.type == "image":
                self._picture(child, line)
            elif child.type == "link_open":
                href = str(child.attrs.get("href", ""))
                if LINK.fullmatch(href) is None:
                    self.report(
                        line,
                        message(
                            "lessons.bad_link", "{given} is no link: it begins with https://, / or #", given=href[:60]
                        ),
                    )
                if href.startswith("http"):
                    child.attrs["rel"] = "noopener"
            elif child.type.startswith("math_"):
                self._check_formula(child, line)

    def _picture(self, image: Token, line: int) -> None:
        """Check that a picture is there and says what it shows, and give it its address."""
        source = str(image.attrs.get("src", ""))
        name = PICTURE.fullmatch(source)
        if name is None:
            self.report(
                line,
                message(
                    "lessons.not_a_picture",
                    "{given} is no picture here: it is one of {kinds} in the folder {folder} beside the lessons, "
                    "written {example}",
                    given=source[:60],
                    kinds=list(PICTURE_KINDS),
                    folder=PICTURES,
                    example=f"![A text](../{PICTURES}/box.png)",
                ),
            )
        elif not image.content.strip():
            self.report(
                line, message("lessons.no_alternative", "a picture needs a text in its brackets: ![A text](...)")
            )
        elif self.pictures is None or not is_picture(self.pictures / name[1]):
            self.report(
                line,
                message(
                    "lessons.no_such_picture",
                    "there is no picture {name} of at most {most} MB in the folder {folder}",
                    name=name[1],
                    most=MOST_PICTURE // 1_000_000,
                    folder=PICTURES,
                ),
            )
        image.attrs = {"src": f"/learn/{PICTURES}/{name[1]}" if name else "", "loading": "lazy"}

    def _compute(self, token: Token, line: int) -> None:
        try:
            value = compute(token.content, self.budget)
        except LessonError as error:
            self.report(line, error.cause)
            token.meta = {"number": 0.0, "text": "?"}
        else:
            token.meta = {"number": value.number, "text": value.text}

    def _check_formula(self, token: Token, line: int) -> None:
        try:
            _formula(token.content, {"display_mode": False})
        except LessonError as error:
            self.report(line, error.cause)
            token.content = ""

    def html_of(self, tokens: Sequence[Token]) -> str:
        """Render tokens; formulas in blocks that cannot be read are left out (`parse` has reported the others)."""
        return str(self.md.renderer.render(tokens, self.md.options, {}))

    def html(self, source: str, first_line: int) -> str:
        """Render a text that begins on a line of the file. Raises LessonError for a directive in it."""
        tokens = self.parse(source, first_line)
        for token in tokens:
            if token.type == "colon_fence":
                line = first_line + (token.map or [0])[0]
                raise mistake("lessons.nested", "a directive cannot be inside another one", line=line)
            if token.type.startswith("math_block"):
                self._check_formula(token, first_line + (token.map or [0])[0])
        return self.html_of(tokens).strip()

    def plain(self, source: str, first_line: int) -> str:
        """Return a text without its formatting, for labels and alternative texts."""
        parts = []
        for token in self.md.parse(source, {}):
            for child in token.children or ():
                if child.type == "value":
                    self._compute(child, first_line)
                    parts.append(child.meta["text"])
                elif child.type in ("softbreak", "hardbreak"):
                    parts.append(" ")
                else:
                    parts.append(child.content)
        return re.sub(r"[ \t\n]+", " ", "".join(parts)).strip()  # a number keeps its unit in its line
