"""Bubbleline's Python side: schedule core, runs, web; what each may import is kept by tests/lint/test_layers.py."""

__version__ = "0.2.0"
