"""The description of the HTTP interface, and requests made from it."""
