"""Tests of comparisons, sweeps, claims and the Pareto frontier."""
