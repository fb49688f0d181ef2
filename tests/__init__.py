"""Tests of the backend, the runner and the page."""
