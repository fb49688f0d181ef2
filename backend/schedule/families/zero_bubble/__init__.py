"""Schedules that split the backward into I and W: ZB-H1, ZB-H2 and the searched ZB-auto."""
