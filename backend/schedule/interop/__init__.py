"""Read and write the files of other tools: torch's schedule CSV, Chrome traces, text."""
