"""Runners for tests: the real one driven over its pipes, a fake that only follows the protocol, and faulty ones."""
