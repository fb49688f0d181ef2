"""Searches started from the page: each in a thread of its own, never in the event loop."""
