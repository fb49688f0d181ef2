"""Ranks as actors on a Ray cluster. Ray is imported in this package only, and only once its engine is asked for."""
