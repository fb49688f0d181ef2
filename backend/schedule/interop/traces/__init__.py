"""Read and write traces: measured ops of training steps, in the formats of other tools."""
