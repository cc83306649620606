"""Oracles: sources of answers, such as a table, a function, a crowd or a person.

An oracle is any object with the method of `Oracle`.
`askmeans.testing.OracleContract` tests one of your own.
"""

from askmeans.driver import Oracle
from askmeans.oracles.callback import CallbackOracle
from askmeans.oracles.console import ConsoleOracle
from askmeans.oracles.crowd import CrowdOracle
from askmeans.oracles.noisy import NoisyOracle, QuantizedOracle
from askmeans.oracles.remembering import RememberingOracle
from askmeans.oracles.table import TableOracle

__all__ = [
    "CallbackOracle",
    "ConsoleOracle",
    "CrowdOracle",
    "NoisyOracle",
    "Oracle",
    "QuantizedOracle",
    "RememberingOracle",
    "TableOracle",
]
