"""Tests of the commands of app.py, and of the Python API."""
