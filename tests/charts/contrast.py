"""Contrast of two colours by WCAG 2.2."""

from __future__ import annotations


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, such as "#0b5fa5", from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, from 0 to 1."""
    full = colour if len(colour) == 7 else "#" + "".join(2 * each for each in colour[1:])
    parts = (int(full[at : at + 2], 16) / 255 for at in (1, 3, 5))
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
