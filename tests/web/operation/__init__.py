"""Tests of what operators need: logs, metrics, limits of connections, a server that stops, examples of deploy/."""
