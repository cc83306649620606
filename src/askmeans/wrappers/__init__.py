"""Plans out of plans: questions of another kind, and questions asked more than once."""

from askmeans.wrappers.adaptive import repeated_adaptively
from askmeans.wrappers.by_similarity import by_similarity
from askmeans.wrappers.by_sorting import by_sorting
from askmeans.wrappers.pool_sizes import least_questions
from askmeans.wrappers.repeated import repeated
from askmeans.wrappers.theorem_10 import repeated_solver

__all__ = [
    "by_similarity",
    "by_sorting",
    "least_questions",
    "repeated",
    "repeated_adaptively",
    "repeated_solver",
]
