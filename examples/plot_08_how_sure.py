"""
Can its probabilities be believed?
==================================

A membership of .8 should be right in eight cases of ten. How many items are wrong, and does it
know?
"""

# %%
# Handwritten digits, 40 answers. A reliability diagram shows the items without an answer: how often
# the strongest membership is right, by its size. The rival learns from the same 40 answers.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from askmeans import ActiveFuzzyKMeans, oracles, plotting

X, y = load_digits(return_X_y=True)
X = X / 16.0
expert = oracles.TableOracle.from_labels(y)


def ask(budget):
    model = ActiveFuzzyKMeans(10, oracle=expert, ask="group", budget=budget, random_state=0).fit(X)
    return model, [answer.items[0] for answer in model.history_]


model, asked = ask(40)
rest = np.setdiff1d(np.arange(len(X)), asked)
rival = LogisticRegression(C=10.0, max_iter=500).fit(X[asked], y[asked])

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
draw = plotting.ReliabilityDisplay.from_predictions
draw(y[rest], model.memberships_[rest], label="askmeans", ax=ax)
draw(y[rest], rival.predict_proba(X[rest]), label="logistic regression", ax=ax)
plt.show()

# %%
# Probabilities that can be believed can be added up. The number of wrong items that it expects, the
# band that should hold it in eight cases of ten, and the truth.
budgets = [20, 30, 40, 60, 80, 100]
expected, low, high, wrong = [], [], [], []
for budget in budgets:
    model, _ = ask(budget)
    expected.append(model.diagnostics_["expected_wrong"])
    low.append(model.diagnostics_["expected_wrong_band"][0])
    high.append(model.diagnostics_["expected_wrong_band"][1])
    wrong.append(np.sum(model.memberships_.argmax(axis=1) != y))

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.fill_between(budgets, low, high, alpha=0.2, label="band")
ax.plot(budgets, expected, "o-", label="expected")
ax.plot(budgets, wrong, "k--", label="in truth")
ax.set(xlabel="answers", ylabel=f"wrong items of {len(X):,}", ylim=0)
ax.legend()
plt.show()
