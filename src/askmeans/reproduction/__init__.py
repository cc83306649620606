"""Experiments: the paper's claims, run."""
