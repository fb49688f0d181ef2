"""Reading links: query strings, packed queries, the state of a view."""
