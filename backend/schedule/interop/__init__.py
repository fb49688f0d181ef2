"""Other tools' files: torch's schedule CSV, Chrome traces, text."""
