"""Tests of transports between ranks."""
