"""Plans out of plans: questions of one kind turned into questions of another."""

from askmeans.wrappers.by_similarity import by_similarity, least_questions

__all__ = ["by_similarity", "least_questions"]
