"""Helpers that several tests share."""

PATIENCE_S = 40.0  # of waits and requests; a busy machine takes long, and a wait that is met costs nothing
