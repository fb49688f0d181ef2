"""The commands of `python app.py`, a module for each group of them."""
