"""The lessons in a browser."""
