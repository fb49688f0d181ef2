"""Tests of backend/schedule/order."""
