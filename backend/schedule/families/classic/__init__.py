"""Schedules with one chunk per device and a whole backward: GPipe, 1F1B, PipeDream."""
