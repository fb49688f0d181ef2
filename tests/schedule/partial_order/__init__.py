"""Tests of backend/schedule/partial_order."""
