"""Tests of the model: deferred gradients, types, and the reference."""
