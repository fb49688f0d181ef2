"""Transports of tensors between ranks: shared memory, gloo, NCCL, threads."""
