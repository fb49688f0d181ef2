"""Tests of the options on top of families."""
