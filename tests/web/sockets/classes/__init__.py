"""Tests of classes: their questions, members and database, what is sent to whom, and who may do what."""
