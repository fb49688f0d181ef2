"""A crowd of simulated clients in one process: their connections, students of a class, and the command `class-demo`."""
