"""HTTP tools that every route uses: responses, errors, caching, security, the server."""
