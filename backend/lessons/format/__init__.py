"""The format of lesson files: Markdown, directives, and what a file is parsed to."""
