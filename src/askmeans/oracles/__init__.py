"""Who answers: a table, a noisy or a coarse one, a crowd, a function, a person.

An oracle is any object with the method of `Oracle`, which tells what answers are.
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
