"""Attacks of hostile clients, and what they do to a bystander."""
