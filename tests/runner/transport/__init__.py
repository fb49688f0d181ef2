"""Tests of runner/transport."""
