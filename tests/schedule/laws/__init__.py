"""Tests of the closed forms."""
