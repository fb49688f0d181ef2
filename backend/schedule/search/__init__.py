"""Automatic schedules: orders found for the costs and the memory at hand instead of written by hand."""
