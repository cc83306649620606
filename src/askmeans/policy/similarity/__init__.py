"""Similarities of items: comparisons with anchors, what follows from them, what to compare next."""
