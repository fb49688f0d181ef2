"""Computations in worker processes: forked by a server of their own, limited in memory and time, shared fairly."""
