"""Contracts as test classes: inherit one, say what is tested, and pytest does the rest."""

from askmeans.testing.model_contract import ModelContract

__all__ = ["ModelContract"]
