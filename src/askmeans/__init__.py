"""Fuzzy clustering with questions.

Everything public is reachable from here and loads when first used, so that
``import askmeans`` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askmeans import (
        budgets,
        contradictions,
        datasets,
        exceptions,
        fuzzy,
        llm,
        metrics,
        notebook,
        oracles,
        paper,
        plotting,
        queries,
        sessions,
        tables,
        web,
    )
    from askmeans.driver import run
    from askmeans.estimators import ActiveFuzzyKMeans, FuzzyKMeans
    from askmeans.strategies import Sequential, Stratified, TwoClusters, TwoPhase

__version__ = "0.1.0"

__all__ = [
    "ActiveFuzzyKMeans",
    "FuzzyKMeans",
    "Sequential",
    "Stratified",
    "TwoClusters",
    "TwoPhase",
    "budgets",
    "contradictions",
    "datasets",
    "exceptions",
    "fuzzy",
    "llm",
    "metrics",
    "notebook",
    "oracles",
    "paper",
    "plotting",
    "queries",
    "run",
    "sessions",
    "tables",
    "web",
]

# Where each public name lives; a name without an entry is a room (submodule) of its own.
_HOMES = {
    "ActiveFuzzyKMeans": "askmeans.estimators",
    "FuzzyKMeans": "askmeans.estimators",
    "Sequential": "askmeans.strategies",
    "Stratified": "askmeans.strategies",
    "TwoClusters": "askmeans.strategies",
    "TwoPhase": "askmeans.strategies",
    "run": "askmeans.driver",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'askmeans' has no attribute {name!r}")
    home = _HOMES.get(name)
    if home is None:
        return importlib.import_module(f"askmeans.{name}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "__version__"])
