"""Read a framework's configuration back: flags of Megatron-LM, overrides of Megatron Bridge, arguments of torchtitan.

The text may be a command, or a shell script that sets variables and arrays of flags: those that it sets are filled in.
"""

from __future__ import annotations

import re
import shlex

from backend.schedule.errors import SpecError, message
from backend.schedule.interop.configurations import megatron, torchtitan
from backend.schedule.interop.configurations.settings import FoundSettings, found_settings

LONGEST = 50_000  # characters
SIGNS = re.compile(r"--(?:pipeline|tensor)-model-parallel-|model\.pipeline_model_parallel|--?parallelism\.pipeline_par")
ASSIGNED = re.compile(
    r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(\((?:[^()]|\([^()]*\))*?\)\s*$|\"[^\"]*\"|'[^']*'|[^\s;#]*)", re.M
)
VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:\[@\])?(?::-([^}$\n]{0,200}))?\}|([A-Za-z_]\w*))")
DEPTH = 4  # variables in variables


def is_configuration(text: str) -> bool:
    """Return whether a text looks like a framework's configuration."""
    return SIGNS.search(text) is not None


def read_configuration(text: str) -> FoundSettings:
    """Return the settings of a configuration. Raises SpecError naming the flag that is wrong and the way out."""
    if len(text) > LONGEST or not is_configuration(text):
        why = message(
            "configuration.not_one",
            "this is no command or script with Megatron-LM's flags, Megatron Bridge's overrides or torchtitan's "
            "arguments of at most {most} characters",
            most=LONGEST,
        )
        raise SpecError("configuration", text[:40], why)
    given = _flags(_filled_in(text))
    titan = {name: value for name, value in given.items() if name in torchtitan.NAMES.values()}
    read = torchtitan.read_arguments(titan) if torchtitan.NAMES["p"] in titan else megatron.read_flags(given)
    return found_settings(read)


def _filled_in(text: str) -> str:
    """Return the text with the variables that it sets in place of their names."""
    values: dict[str, str] = {}
    for name, value in ASSIGNED.findall(text):
        text_of = value[1:].rstrip()[:-1] if value.startswith("(") else value.strip("\"'")
        own = VARIABLE.fullmatch(text_of)  # PP=${PP:-8}
        values.setdefault(name, own[2] or "" if own and own[1] == name else text_of)
    for _ in range(DEPTH):
        if len(text) > LONGEST:
            break
        text = VARIABLE.sub(lambda found: values.get(found[1] or found[3], found[2] or found[0]), text)
    return text


def _flags(text: str) -> dict[str, str]:
    """Return the flags of a command by their names without dashes, and overrides, each with its value; "": none."""
    lines = (re.sub(r"(^|\s)#.*$", "", line) for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines())
    words = [word for line in lines for word in _words(line)]
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            name = name.lstrip("-").rstrip(":")  # as MODEL_ARGS of a YAML file have it
            value = value if equals else "" if re.match("-[^0-9]", following) else following
        elif not equals or "." not in name:
            continue
        if value.startswith("$") and name in _KNOWN:
            why = message(
                "configuration.variable",
                "{flag} is {variable}, which the text does not set; write its value",
                flag=name,
                variable=value[:40],
            )
            raise SpecError(name, value[:40], why)
        found[name] = value.strip("\"'")
    return found


_KNOWN = {
    *(name for flag in (*megatron.FLAGS, *megatron.READ_ONLY) for name in (flag.name, flag.bridge)),
    *torchtitan.NAMES.values(),
}


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quote that is not closed
        return line.replace('"', " ").replace("'", " ").split()
