"""What a training framework is told to train so: written from a schedule and a model on machines, and read back."""
