"""Charts as plotly figures, built from the schedule core and drawn by the page."""
