"""Orders: ops, stage placement, the dependency rule, encodings."""
