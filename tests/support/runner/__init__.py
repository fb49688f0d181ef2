"""Runners for tests: the real one driven over its pipes, one that only speaks the protocol, and faulty ones."""
