"""Tests of the search for orders."""
