"""Servers that tests start: of Redis, of PostgreSQL, and of the page."""
