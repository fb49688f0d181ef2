"""Tests of the families: each order against its paper and against golden files."""
