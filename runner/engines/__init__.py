"""Engines that start and manage worker processes: local, or on a Ray cluster."""
