"""Bubbleline from Python: schedules of pipeline-parallel training, their times, memory, checks and runs."""
