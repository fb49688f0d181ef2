"""torch's own schedules and pipeline runtime, to compare with."""
