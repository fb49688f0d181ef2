"""Limits of what clients may do: queues that are fair to them, turns, and rates."""
