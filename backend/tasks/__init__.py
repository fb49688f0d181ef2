"""The workbench's tasks, what a submitted order is judged by, and the boards of orders in the database."""
