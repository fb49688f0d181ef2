"""The runner: executes a pipeline schedule with real tensors and reports when every op ran.

A separate program (`python -m runner`, JSON lines in and out). Depends on `backend.schedule` (orders, checks,
simulated times, metrics) and on nothing of the web side.
"""
