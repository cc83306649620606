"""Data that others made, and rivals, by one protocol: `python -m benchmarks.outside --help`."""
