"""Tests of runs on the server: queue, log, store, routes."""
