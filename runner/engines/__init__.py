"""Launchers of worker processes."""
