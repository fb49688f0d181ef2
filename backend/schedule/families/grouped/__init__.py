"""Grouped interleaved schedules of PipeOffload."""
