"""Schedules with two chunks per device placed on a V."""
