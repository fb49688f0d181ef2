"""Figures with their derivation: each is a formula over named values, and may be named for the next.

The value is the evaluated formula, so the displayed and the used figure cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.schedule.laws.formula import evaluate, parse, text


@dataclass(frozen=True)
class Figure:
    """One figure: its formula, the formula with numbers substituted, and the value. ``symbol`` names it in later
    formulas.
    """

    name: str
    formula: str
    numbers: str
    value: float
    unit: str
    symbol: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as JSON; ``tree`` is the formula as the page draws it."""
        plain = {key: getattr(self, key) for key in ("name", "formula", "numbers", "value", "unit", "symbol")}
        return plain | {"tree": parse(self.formula)}


class Ledger:
    """Figures in the order of their derivation."""

    def __init__(self, names: Mapping[str, float]) -> None:
        self.names = dict(names)
        self.figures: list[Figure] = []

    def value(self, formula: str) -> float:
        """Evaluate a formula without storing it."""
        return evaluate(parse(formula), self.names)

    def add(self, name: str, formula: str, unit: str, symbol: str | None = None) -> float:
        """Evaluate a figure, store it, and return its value. A symbol may be assigned only once."""
        tree = parse(formula)
        value = evaluate(tree, self.names)
        self.figures.append(Figure(name, text(tree), text(tree, self.names), value, unit, symbol))
        if symbol is not None:
            assert symbol not in self.names, symbol
            self.names[symbol] = value
        return value
