"""Peak memory of a fit above the data, at 1,000,000 x 10 and four clusters."""

import gc
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans import FuzzyKMeans

MIB = 1 << 20


def resident(field: str) -> int:
    """Bytes from this process's status: VmRSS now, VmHWM at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} on this system")


def peak_of_fit(X: NDArray[np.float64]) -> float:
    """MiB by which resident memory rose at its highest while fitting."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the highest mark starts anew
    before = resident("VmRSS")
    FuzzyKMeans(4, random_state=0).fit(X)
    return (resident("VmHWM") - before) / MIB


def main() -> None:
    """Print the peaks."""
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).random((1_000_000, 10))
    FuzzyKMeans(4, random_state=0, max_iter=2).fit(X[:200_000])  # compiled, threads started once
    print(f"Peak memory above the data ({X.nbytes / MIB:.0f} MiB) of a whole fit, 4 clusters:")
    print(f"seeding, iterations, memberships and labels: {peak_of_fit(X):.0f} MiB")
    print(f"(of which the memberships returned are {1_000_000 * 4 * 8 / MIB:.0f} MiB)")


if __name__ == "__main__":
    main()
