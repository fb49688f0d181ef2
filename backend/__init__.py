"""Bubbleline's Python side: the schedule core, the runs and the web; what each knows is kept apart by tests/test_layers.py."""

__version__ = "0.1.0"
