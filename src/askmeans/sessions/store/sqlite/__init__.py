"""SQLite, one file."""
