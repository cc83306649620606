"""The paper's algorithms as plans, and plans made of plans (Algorithm 9, repeated questions).

Rules of this room:

- A plan is a generator. It does no input or output, reads no clock, starts no thread and uses only
  the random generator that it receives.
- It yields batches, receives one answer per question (NaN for "cannot say") and returns a
  Clustering.
- It assumes exact answers.
- When StopAsking is thrown into it, it returns its best Clustering, with complete=False.
"""

from askmeans.paper.by_similarity import by_similarity
from askmeans.paper.plan import Plan
from askmeans.paper.repeated import repeated

__all__ = [
    "Plan",
    "by_similarity",
    "repeated",
]
