"""The database of runs, short links and secrets: one interface and one schema for SQLite and PostgreSQL."""
