"""Tests of a worker process: executors, and the threads beside its ops."""
