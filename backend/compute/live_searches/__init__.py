"""Searches started from the page: each in a worker process of its own, awaited by a thread."""
