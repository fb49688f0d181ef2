"""Searches that somebody watches: each in a thread of its own, never in the event loop."""
