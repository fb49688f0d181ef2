"""Short links: a view's query under a code or a name, kept on disk."""
