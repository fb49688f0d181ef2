"""Tests of backend/schedule/workbench."""
