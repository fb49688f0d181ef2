"""The web: HTTP routes, socket events and the server around them. Knows the schedule core and the runs, never torch."""
