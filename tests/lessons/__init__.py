"""Tests of lessons: files, values, answers, commands, routes."""
