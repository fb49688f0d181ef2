"""Links: query strings, packed queries, the state of a view, short links."""
