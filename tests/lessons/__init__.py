"""Tests of the lessons: their reader, their texts, their pages."""
