"""Compile the kernels that tests use, once: processes that start together would each compile all.

`make test` runs it beside mypy; `make portable` with `quick`: only for items as most tests have.
"""

import sys

import numpy as np

from askmeans import FuzzyKMeans, TwoPhase, run
from askmeans.oracles import TableOracle


def main(*, quick: bool) -> None:
    """Fit items of every float type and order in memory, and ask about some."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    rare = (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X.astype(np.float32),
        np.asfortranarray(X, dtype=np.float32),
    )
    for items in (X,) if quick else (X, *rare):
        model = FuzzyKMeans(2, max_iter=2, tol=1.0, random_state=0).fit(items)
        model.predict_proba(items)
    if not quick:  # many centres have their own
        FuzzyKMeans(16, max_iter=1, tol=1.0, random_state=0).fit(np.tile(X, 2))
    plan = TwoPhase(sample_size=4).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
    run(plan, TableOracle(model.memberships_))


if __name__ == "__main__":
    main(quick="quick" in sys.argv)
