"""Tests of the charts: their data, their figures, their routes."""
