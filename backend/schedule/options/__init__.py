"""Options on top of the families: recomputation, vocabulary parallelism, offload, and the effective costs."""
