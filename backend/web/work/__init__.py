"""Where a request's work is done: on the event loop, in a thread that waits for the disk, or in a worker process."""
