"""Tests of the checker, the simulator and what is derived from times."""
