"""
A language model beside a person
================================

A model answers everything, and is wrong one time in five. Use its answers, or only the person's?
"""

# %%
# Messages to a shop in four topics. The model is simulated: it takes every message about returns
# for one about delivery. Its answers cost nothing; those of the person do.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from askmeans import datasets, sessions
from askmeans.tables import read_items

messages = datasets.make_messages()
X = read_items({"message": messages.texts}).features
truth = messages.shares.argmax(axis=1)
model_says = np.where(truth == 2, 0, truth)


def accuracy(budget: int, with_model: bool) -> float:
    """The share of messages in their topic, after so many answers of a person."""
    with (
        tempfile.TemporaryDirectory() as folder,
        sessions.create(Path(folder) / "shop.db", X, n_clusters=4, random_state=0) as session,
    ):
        if with_model:
            session.advisers.add("model", dict(enumerate(model_says.tolist())))
        for _ in range(budget):
            (question,) = session.ask()
            session.tell(question.id, int(truth[question.items[0]]))
        return float(np.mean(session.result().memberships.argmax(axis=1) == truth))


# %%
# The person's answers show where the model is wrong: what it calls delivery is a return, half of
# the time. It is trusted where it proved right, and nowhere else.
budgets = [8, 16, 32]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for with_model, label in ((False, "the person alone"), (True, "the person and the model")):
    right = [accuracy(budget, with_model) for budget in budgets]
    ax.plot(budgets, right, "o-", label=label)
ax.axhline(np.mean(model_says == truth), ls="--", color="grey", label="the model alone")
ax.set(xlabel="answers of the person", ylabel="share of messages in their topic")
ax.legend()
