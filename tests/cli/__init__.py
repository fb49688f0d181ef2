"""Tests of the commands of app.py."""
