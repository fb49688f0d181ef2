"""Pictures of schedules that the server draws: what a link shows where it is pasted."""
