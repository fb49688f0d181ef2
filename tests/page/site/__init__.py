"""Tests of the panels beside and below the timeline."""
