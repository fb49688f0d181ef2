"""How tensors travel between ranks: shared memory, gloo, NCCL, threads."""
