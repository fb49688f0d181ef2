"""A class: students follow what a lecturer's page shows, answer questions, and are seen working.

docs/teaching/classes.md describes it.
"""
