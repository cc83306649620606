"""Time to import, beside scikit-learn's own: ratios, in one run."""

import subprocess
import sys
import time

ROUNDS = 7
BASE = "import sklearn"
CODES = ("import askmeans", "from askmeans import FuzzyKMeans")


def seconds(code: str) -> float:
    """Wall time of a fresh interpreter that runs the code."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print each import as a multiple of `import sklearn`, start of the interpreter included."""
    best = dict.fromkeys((BASE, *CODES), float("inf"))
    for _ in range(ROUNDS):
        for code in best:
            best[code] = min(best[code], seconds(code))
    for code in CODES:
        print(f"{code}: {best[code] / best[BASE]:.2f} x `{BASE}`")


if __name__ == "__main__":
    main()
