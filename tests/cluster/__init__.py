"""Tests of the engine on Ray: its parts, several hosts as network namespaces, and the web side of a cluster."""
