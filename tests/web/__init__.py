"""Tests of the server: routes, sockets, errors, short links."""
