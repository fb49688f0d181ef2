"""Helpers of bench/viewers.py and bench/classroom.py: a runner with a steady rate of ops, cheap viewers, and a measured
server.
"""
