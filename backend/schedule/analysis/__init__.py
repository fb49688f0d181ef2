"""What can be read from schedules: comparisons, sweeps, Pareto points, calibration, the table of laws."""
