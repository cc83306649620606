"""Query algorithms as plans: generators that yield questions and receive answers.

Rules of this room:
- A plan does no input or output, reads no clock, starts no thread and owns no randomness but the
  generator it is given.
- It yields batches, receives as many answers, NaN for "cannot say", and returns a Clustering.
- When StopAsking is thrown into it, it returns its best Clustering, with complete=False.
"""

from askmeans.plans.sequential import sequential
from askmeans.plans.two_clusters import two_clusters
from askmeans.plans.two_phase import two_phase

__all__ = ["sequential", "two_clusters", "two_phase"]
