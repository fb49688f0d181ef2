"""The runner: executes a pipeline schedule with real tensors and reports when every op ran.

A program of its own (`python -m runner`, JSON lines in and out). It knows `backend.schedule` (orders, checks,
simulated times, metrics) and nothing of the web side.
"""
