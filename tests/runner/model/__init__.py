"""Tests of runner/model: stages, deferred gradients, shards, the reference training."""
