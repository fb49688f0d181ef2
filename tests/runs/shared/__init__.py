"""Tests of several processes that share their runs through Redis."""
