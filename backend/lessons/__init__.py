"""Lessons: Markdown files with directives, read, checked and rendered; the engine computes figures and answers."""
