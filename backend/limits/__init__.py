"""Limits of what clients may do: a queue that is fair to them, and rates."""
