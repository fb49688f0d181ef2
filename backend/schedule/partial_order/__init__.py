"""Partial orders: built op by op, whether the next op is legal, what they are, and how good they are."""
