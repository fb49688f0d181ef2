"""Memory against throughput: points of families and found orders, and the frontier that they make."""
