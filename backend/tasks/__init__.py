"""The workbench's tasks, the grading of submitted orders, and the boards of orders in the database."""
