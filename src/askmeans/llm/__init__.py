"""Language models as annotators: an oracle, a client, costs, names of groups, embeddings."""

from askmeans.llm.client import model_client
from askmeans.llm.embedding import text_embedding
from askmeans.llm.names import GroupSample, propose_names
from askmeans.llm.oracle import ModelOracle
from askmeans.llm.prompts import Reply

__all__ = [
    "GroupSample",
    "ModelOracle",
    "Reply",
    "model_client",
    "propose_names",
    "text_embedding",
]
