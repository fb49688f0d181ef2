"""Tests of runs on the page."""
