"""Figures with their derivation: each is a formula over named values, and may be named for the next.

The value is the evaluated formula, so the displayed and the used figure cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.schedule.laws.formula import Vars, parse, text, value_of


@dataclass(frozen=True)
class Figure:
    """One figure: its formula as it was written, the values of the names in it, and its own value. ``symbol`` names it
    in later formulas.
    """

    name: str
    source: str
    names: Vars
    value: float
    unit: str
    symbol: str | None = None

    @property
    def formula(self) -> str:
        return text(parse(self.source))

    @property
    def numbers(self) -> str:
        """Return the formula with the values of its names."""
        return text(parse(self.source), self.names)

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as JSON; ``tree`` is the formula as the page draws it."""
        plain = {key: getattr(self, key) for key in ("name", "formula", "numbers", "value", "unit", "symbol")}
        return plain | {"tree": parse(self.formula)}


class Ledger:
    """Figures in the order of their derivation."""

    def __init__(self, names: Mapping[str, float]) -> None:
        self.names: dict[str, float] = {}
        self.figures: list[Figure] = []
        self.define(names)

    def define(self, names: Mapping[str, float]) -> None:
        """Give names their values, before the first formula that has them."""
        self.names |= {name: float(value) for name, value in names.items()}

    def value(self, formula: str) -> float:
        """Evaluate a formula without storing it."""
        return value_of(formula, self.names)

    def add(self, name: str, formula: str, unit: str, symbol: str | None = None) -> float:
        """Evaluate a figure, store it, and return its value. A symbol may be assigned only once, so the names of a
        formula keep their values.
        """
        value = self.value(formula)
        self.figures.append(Figure(name, formula, self.names, value, unit, symbol))
        if symbol is not None:
            assert symbol not in self.names, symbol
            self.names[symbol] = value
        return value
