"""Contracts as test classes: inherit one, say what is tested, and pytest does the rest."""

from askmeans.testing.model_contract import ModelContract
from askmeans.testing.oracle_contract import OracleContract
from askmeans.testing.store_contract import StoreContract

__all__ = ["ModelContract", "OracleContract", "StoreContract"]
