"""Questions, batches of questions as arrays, and the table of answers.

Rules:

- A question consists of its kind, items, cluster and repeat. This identity holds in ledgers,
  policies, sessions and exports. A question is asked once; a repeat is a new question.
- Similarity does not depend on the order of items: a question has pairs and triplets sorted.
- A batch is immutable. Answers have the order of the batch.
- An answer is a number, or a row of numbers for a group question. NaN is "cannot say".
"""

from askmeans.queries.answers import Answer, Answers
from askmeans.queries.answers import Ledger as Ledger
from askmeans.queries.questions import ME as ME
from askmeans.queries.questions import MODEL as MODEL
from askmeans.queries.questions import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    Question,
    RelativeQueries,
    TripletQueries,
)
from askmeans.queries.questions import Queries as Queries
from askmeans.queries.questions import batches_of as batches_of
from askmeans.queries.questions import is_model as is_model

__all__ = [
    "Answer",
    "Answers",
    "GroupQueries",
    "MembershipQueries",
    "PairQueries",
    "Question",
    "RelativeQueries",
    "TripletQueries",
]
