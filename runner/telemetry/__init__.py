"""Measured times: shared op board, event stream, clocks."""
