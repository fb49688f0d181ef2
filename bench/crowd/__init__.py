"""Helpers of bench/viewers.py: a runner with a steady rate of ops, cheap viewers, and a measured server."""
