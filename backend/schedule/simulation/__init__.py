"""Simulation of an order: durations, start and end times, checks, metrics, memory."""
