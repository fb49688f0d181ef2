"""Bidirectional schedules: Chimera, DualPipe and DualPipeV, and the search for orders in two directions."""
