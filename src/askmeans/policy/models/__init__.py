"""Models: memberships of all items from the answers about a few, one way a file."""
