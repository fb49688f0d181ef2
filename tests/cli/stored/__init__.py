"""Tests of the commands about a server's database."""
