"""The model that a run trains: stages, deferred weight gradients, activations, the reference training."""
