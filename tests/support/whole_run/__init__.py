"""Plugins of pytest for the run of all tests: how it is distributed, and the processor time that it takes."""
