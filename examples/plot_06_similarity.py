"""
Similarities or memberships?
============================

Groups without names: people can only say how similar two items are. What does that cost?
"""

# %%
# The same soft target on Iris, asked for in three ways, with growing budgets. Similarities name no
# groups, so clusters are matched before they are compared.
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles

X, y = load_iris(return_X_y=True)
expert = oracles.TableOracle.from_labels(y)
warnings.simplefilter("ignore")  # small budgets do not meet every group

budgets = [10, 20, 30, 50]
kinds = {"group": "which group?", "membership": "how much of it?", "pairwise": "how similar?"}
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for ask, question in kinds.items():
    errors = []
    for budget in budgets:
        model = ActiveFuzzyKMeans(3, oracle=expert, ask=ask, budget=budget, random_state=0).fit(X)
        errors.append(1 - metrics.matched_accuracy(y, model.labels_))
    ax.plot(budgets, errors, "o-", label=f"{ask}: {question}")
alone = FuzzyKMeans(3, n_init=5, random_state=0).fit(X)
error = 1 - metrics.matched_accuracy(y, alone.labels_)
ax.axhline(error, ls="--", color="grey", label="no questions")
ax.set(xlabel="questions", ylabel="share of items wrong", ylim=0)
ax.legend()

# %%
# A whole row (``ask="group"``) tells most per question, and is what people find easiest where
# groups have names. Where they have none, similarities reach the same with more questions.
