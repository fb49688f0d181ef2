"""Tests of the sources themselves: layers, sizes, settings, translations."""
