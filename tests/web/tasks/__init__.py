"""Tests of the tasks: their routes, entries and boards."""
