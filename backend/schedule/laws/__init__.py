"""Closed forms of the families: formulas as data, and the region where each is exact."""
