"""Compute costs from a model and a machine: presets, estimates with derivation, memory footprint, layer balance."""
