"""What worker processes compute for the routes: from a query or a spec to an answer ready to send.

Nothing here imports Flask or gevent, which a worker must not load. Errors are RequestErrors, as in the routes.
"""
