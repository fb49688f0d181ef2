"""Costs from a model and a machine: presets, estimates with their derivation, memory footprint, layer balance."""
