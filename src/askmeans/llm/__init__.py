"""Language models as advisers: an oracle that asks one, its client, proposed names and costs."""

from askmeans.llm.cache import ModelCost
from askmeans.llm.client import ModelClient, model_client
from askmeans.llm.names import GroupSample, NameProposal, propose_names, typical_words
from askmeans.llm.oracle import ModelOracle
from askmeans.llm.replies import Reply

__all__ = [
    "GroupSample",
    "ModelClient",
    "ModelCost",
    "ModelOracle",
    "NameProposal",
    "Reply",
    "model_client",
    "propose_names",
    "typical_words",
]
