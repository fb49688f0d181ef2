"""Per-rank programs compiled from an order, and what they move between ranks."""
