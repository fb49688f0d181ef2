"""Live runs: the runner's process, the queue in front of it, the log of each run and the store that keeps them."""
