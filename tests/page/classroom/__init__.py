"""Tests of the pages of a class."""
