"""What bench/viewers.py drives a server with: a runner that emits at a steady rate, and viewers that cost little."""
