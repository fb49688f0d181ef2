"""Bidirectional schedules: DualPipe and DualPipeV."""
