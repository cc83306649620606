"""Questions, batches of them as arrays, and one table of answers.

Rules:

- A question is its kind, its items, its cluster and its repeat: one identity for ledger, policies,
  sessions and exports. The same question is asked once; a repeat is a new question.
- Similarity does not depend on the order of its items: a question has pairs and triplets sorted.
- A batch is immutable; order within it is the asker's, and answers come back in the same order.
- An answer is a number; to a group question it is a row of numbers. NaN is "cannot say".
"""

from askmeans.queries.answers import Answer, Answers, Ledger
from askmeans.queries.batches import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    Queries,
    RelativeQueries,
    TripletQueries,
    batches_of,
)
from askmeans.queries.questions import ME, MODEL, Question, is_model

__all__ = ["ME", "MODEL", "Answer", "Answers", "GroupQueries", "Ledger",
           "MembershipQueries", "PairQueries", "Queries", "Question", "RelativeQueries",
           "TripletQueries", "batches_of", "is_model"]  # fmt: skip
