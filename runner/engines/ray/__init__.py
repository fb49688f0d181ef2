"""Ranks as actors on a Ray cluster. Ray is imported only in this package, and only when its engine is requested."""
