"""Tests of what runs in a worker process beside and around its ops."""
