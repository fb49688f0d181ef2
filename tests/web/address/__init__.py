"""Tests of the addresses of views: queries, packed links."""
