"""The HTTP routes, one blueprint a file."""
