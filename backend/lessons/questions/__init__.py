"""Questions: their answers, found by the engine, and the grading of what a reader gives."""
