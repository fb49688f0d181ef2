"""Lessons: Markdown files with directives, read, checked and rendered; their figures and answers come from the engine."""
