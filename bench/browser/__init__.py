"""Helpers of bench/page.py: a real server, a real browser, and the timed interactions."""
