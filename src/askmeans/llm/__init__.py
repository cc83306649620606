"""Language models as annotators: an oracle, a client, costs, and proposals of group names."""

from askmeans.llm.cache import ModelCost
from askmeans.llm.client import ModelClient, model_client
from askmeans.llm.names import GroupSample, NameProposal, propose_names
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
]
