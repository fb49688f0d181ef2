"""Tests of the timeline: drawing, gestures, explanations, scale."""
