"""Tests of the sockets: events, feeds of runs, frames, limits."""
