"""Interleaved schedules: several chunks per device, placed in a loop."""
