"""The paper's algorithms as plans, and its plans out of plans (Algorithm 9, Theorem 10).

Rules of this room:

- A plan is a generator. It does no input or output, reads no clock, starts no thread and owns no
  randomness but the generator it is given.
- It yields batches, receives as many answers, NaN for "cannot say", and returns a Clustering.
- It assumes exact answers.
- When StopAsking is thrown into it, it returns its best Clustering, with complete=False.
"""

from askmeans.paper.by_similarity import by_similarity
from askmeans.paper.plan import Plan
from askmeans.paper.repeated import repeated
from askmeans.paper.same_or_different import same_or_different
from askmeans.paper.theorem_10 import repeated_solver

__all__ = [
    "Plan",
    "by_similarity",
    "repeated",
    "repeated_solver",
    "same_or_different",
]
