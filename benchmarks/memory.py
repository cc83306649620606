"""Peak memory of a fit above the data, at 1,000,000 x 10 and four clusters."""

import warnings

import numpy as np

from askmeans import FuzzyKMeans
from memory_peak import MIB, peak_above


def main() -> None:
    """Print the peak."""
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).random((1_000_000, 10))
    FuzzyKMeans(4, random_state=0, max_iter=2).fit(X[:200_000])  # compiled, threads started once
    peak = peak_above(lambda: FuzzyKMeans(4, random_state=0).fit(X))
    print(f"Peak memory above the data ({X.nbytes / MIB:.0f} MiB) of a whole fit, 4 clusters:")
    print(f"seeding, iterations, memberships and labels: {peak:.0f} MiB")
    print(f"(of which the memberships returned are {1_000_000 * 4 * 8 / MIB:.0f} MiB)")


if __name__ == "__main__":
    main()
