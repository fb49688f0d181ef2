"""Lessons: reading, values, answers, folders, commands, routes, and the texts themselves."""
