"""Analyses of schedules: comparisons, sweeps, Pareto points, calibration, the table of laws."""
