"""Automatic schedules: orders searched for given costs and memory instead of written by hand."""
