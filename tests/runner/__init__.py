"""Tests of the runner: programs, transports, engines, failures, measurements."""
