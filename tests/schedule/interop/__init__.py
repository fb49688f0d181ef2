"""Tests of formats that other programs read and write."""
