"""Bubbleline's Python side: schedule core, runs, web; tests/lint/test_python_layers.py keeps what each may import."""

__version__ = "0.2.0"
