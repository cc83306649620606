"""What the paper says in its appendices and has no figure for."""

import numpy as np

from askmeans.reproduction import beyond
from askmeans.reproduction.claims import Book, Claim, claim

__all__ = ["appendix_claims"]

LIKELY = 0.9  # "with high probability": in more than this share of runs


def appendix_claims(book: Book) -> list[Claim]:
    """Noise, similarities, and targets that no fit can know."""
    found = []
    allowed = beyond.ETA + beyond.KAPPA
    for form in book.curves("theorem_10", "theorem 10", ""):
        runs = book.only("theorem_10", "theorem 10", form)
        centers = book.only("theorem_10", "theorem 10, centres", form)
        where = f"noise, the solver run {runs.x:g} times ({form})"
        found += [
            claim("Theorem 10: with repetitions, memberships are found within epsilon_2 + kappa.",
                  where,
                  "share of runs whose largest membership error is at most "
                  f"{allowed:g} (sigma = kappa = eta = 0.1): above {LIKELY:g}",
                  [float(error <= allowed) for error in runs.values], above=LIKELY, shares=True),
            claim("Theorem 10: ... and centres within 2 R alpha (epsilon_2 + kappa) / rho.",
                  where,
                  f"share of runs whose largest centre error is at most that: above {LIKELY:g}",
                  [float(error <= 1.0) for error in centers.values], above=LIKELY, shares=True),
        ]  # fmt: skip
    for data in book.panels("similarity"):
        xs = book.xs("similarity", data, "membership")
        by_membership = book.values("similarity", data, "", "membership", xs).mean(axis=1)
        by_similarity = book.values("similarity", data, "", "similarity", xs).mean(axis=1)
        found.append(
            claim("Membership queries can be simulated by similarity queries.",
                  f"similarity, {data}",
                  "mean membership error, by similarity minus by membership: within 0.01",
                  by_similarity - by_membership, above=-0.01, below=0.01)
        )  # fmt: skip
    for data in book.panels("hidden"):
        last = book.xs("hidden", data, "two-phase")[-1]
        asked = book.get("hidden", data, "", "two-phase", last).values
        alone = book.get("hidden", data, "", "no questions", last).values
        found.append(
            claim("A few queries help where the clustering cannot be known from the data.",
                  f"hidden features, {data}",
                  f"mean membership error, two-phase with {last:g} questions minus no questions: "
                  "below 0", np.subtract(asked, alone), below=0.0)
        )  # fmt: skip
    return found
