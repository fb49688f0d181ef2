"""Tests of runner/worker."""
