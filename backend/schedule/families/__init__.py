"""Every family of schedules: one file a schedule, in a folder for each group, and the registry of them all."""
