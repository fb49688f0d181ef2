"""All families of schedules: one file per schedule, in a folder for each group, and their registry."""
