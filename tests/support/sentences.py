"""Every sentence and label that the server writes for readers of the page, as templates: holes are {1}, {2}, ...

Read from the source, so that the catalogue of another language can be held to it: `python -m tests.support.sentences`
writes tests/golden/sentences.json, and messages.json, the templates of `message(code, template, ...)` by their codes. A
text counts if it has two words, or is one of WORDS; what is no text for readers is left out by a rule (docstrings,
formulas, SQL, signatures, log messages, assertions) or, at last, by name.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from backend.schedule.laws import formula

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "sentences.json"
GOLDEN_MESSAGES = GOLDEN.with_name("messages.json")

# Texts of the terminal, of docs/laws.md, of the server's console, of Prometheus, and of the previews that other sites
# show of a link, which has no language of its own: no reader of the page sees them.
OTHERS = (
    "backend/cli/*.py",
    "backend/config.py",
    "backend/schedule/interop/ascii.py",
    "backend/schedule/analysis/law_table.py",
    "backend/web/routes/health.py",
    "backend/web/serve.py",
    "backend/web/address/preview.py",
    "backend/preview_image/*.py",
    "runner/__main__.py",
)

# One word each, so no rule finds them: what is counted or drawn, as the page shows it alone or in a sentence.
WORDS = re.findall(
    r"\S+",
    """
    forward offload reload activation gradient work lifetimes bubble makespan span global ideal memory vocabulary
    classic interleaved bidirectional looped full split both none limit rank stage time share part schedule devices
    micro-batches lines chunk chunks micro-batch fill drain hop copy wait models model hidden sequence parameters
    compute layers group throughput messages bytes for longest, machine costs warm-up best tokens
    """,
)

NO_SENTENCES = [
    r"^\s*(CREATE|SELECT|INSERT|DELETE|PRAGMA|ALTER) ",  # SQL
    r"::1\]|^(void|int64|float64|boolean)\(",  # signatures of what is compiled
    r"^--|^HTTP/|^\d+ (Bad|URI)|charset=|; filename=|max-age|^camera=|default-src|^Accept, |^# (HELP|TYPE)",  # headers
    r"^(top|middle|bottom) (left|center|right)$|^limit 99$",  # places of a drawing, and a width to be measured
    r"^(text|application)/|\r\n",
]


def collect() -> list[str]:
    """All of them, each once, sorted."""
    found = {text for path in sources() for text in texts(path)}
    return sorted(found)


def sources() -> list[Path]:
    """The files that write for readers."""
    paths = [path for part in ("backend", "runner") for path in (ROOT / part).rglob("*.py")]
    return sorted(path for path in paths if not any(path.relative_to(ROOT).match(other) for other in OTHERS))


def texts(path: Path) -> Iterator[str]:
    """The texts of one file."""
    tree = ast.parse(path.read_text())
    silent = {id(node) for part in _silent(tree) for node in ast.walk(part)}
    for node in ast.walk(tree):
        text = None if id(node) in silent else template(node)
        for line in (text or "").split("<br>"):  # lines of a chart's box, which the page reads one by one
            if is_for_readers(line):
                yield renumbered(line)


def template(node: ast.AST) -> str | None:
    """A string as it stands, an f-string with its holes numbered."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts, holes = [], 0
    for part in node.values:
        holes += isinstance(part, ast.FormattedValue)
        parts.append(str(part.value) if isinstance(part, ast.Constant) else f"{{{holes}}}")
    return "".join(parts)


def renumbered(text: str) -> str:
    """The holes of a line counted from 1."""
    holes = iter(range(1, 1000))
    return re.sub(r"\{\d+\}", lambda _: f"{{{next(holes)}}}", text)


def is_for_readers(text: str) -> bool:
    """Whether a text has two words or is one of WORDS, and is none of what only machines read."""
    if text in WORDS:
        return True
    words = re.findall(r"(?<![\w{])[A-Za-z][A-Za-z'-]+", re.sub(r"\{\d+\}", "0", text))
    if not words or " " not in text.strip() or any(re.search(rule, text) for rule in NO_SENTENCES):
        return False
    return (len(words) > 1 or "{" in text or len(text.split()) > 1) and not is_formula(text)


def is_formula(text: str) -> bool:
    """Whether it is a formula or a condition of laws, not words such as "fill and drain"."""
    if not re.search(r"[-+*/=<>(){]", text):
        return False
    try:
        formula.parse(re.sub(r"\{\d+\}", "1", text).strip())
    except (SyntaxError, ValueError, KeyError):  # not Python, or what formulas have no operator for
        return False
    return True


def _silent(tree: ast.Module) -> Iterator[ast.AST]:
    """What is no text for readers wherever it stands: docstrings, parts and formats of f-strings, subscripts, keys,
    comparisons, assertions, logging."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as alone):
                yield alone
            case ast.JoinedStr(values=parts):
                yield from (part for part in parts if isinstance(part, ast.Constant))
                holes = (part for part in parts if isinstance(part, ast.FormattedValue))
                yield from (hole.format_spec for hole in holes if hole.format_spec is not None)
            case ast.Subscript(slice=index):
                yield index
            case ast.Dict(keys=keys):
                yield from (key for key in keys if isinstance(key, ast.Constant))
            case ast.Compare():
                yield from (part for part in (node.left, *node.comparators) if isinstance(part, ast.Constant))
            case ast.Assert(msg=ast.expr() as message):
                yield message
            case ast.Call(func=ast.Name(id="message")):  # collected with its code by messages()
                yield from node.args
            case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError")) as call):
                yield call
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log" | "logger"))):
                yield from node.args


def messages() -> dict[str, set[str]]:
    """Code -> template of every call of `message(code, template, ...)` in backend and runner."""
    found: dict[str, set[str]] = {}
    for part in ("backend", "runner"):
        for path in sorted((ROOT / part).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(
                        func=ast.Name(id="message"), args=[ast.Constant(value=str(code)), ast.Constant(value=str(text))]
                    ):
                        found.setdefault(code, set()).add(text)
                    case ast.Call(func=ast.Name(id="message")):
                        raise AssertionError(f"{path}:{node.lineno}: code and template must be literals")
    return found


def written() -> str:
    """The golden file's text."""
    return json.dumps(collect(), indent=0, ensure_ascii=False) + "\n"


def written_messages() -> str:
    """The text of the golden file of messages: code -> template."""
    found = messages()
    double = {code: texts for code, texts in found.items() if len(texts) > 1}
    assert not double, f"one code, several templates: {double}"
    templates = {code: next(iter(found[code])) for code in sorted(found)}
    return json.dumps(templates, indent=0, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(written())
    GOLDEN_MESSAGES.write_text(written_messages())
