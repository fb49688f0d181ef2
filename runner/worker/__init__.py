"""A worker process and the rank that runs in it."""
