"""Tests of costs from a model and a machine."""
