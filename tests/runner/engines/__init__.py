"""Tests of the engines: local worker processes and their temporary folder."""
