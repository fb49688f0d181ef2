"""The description of the HTTP interface, in OpenAPI 3.1, built from the tables that the routes themselves read."""
