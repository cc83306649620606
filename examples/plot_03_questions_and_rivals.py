"""
Questions against error, beside rivals
======================================

How many answers does it take, and would another way of asking do as well?
"""

# %%
# Wine, three growers. askmeans beside logistic regression on random items, and on the items it is
# least sure about (margin sampling). All are told whole labels, and keep what they were told.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
budgets = [5, 10, 15, 20, 30, 40]
seeds = range(3)


def logistic(seed, by_margin):
    """Errors of logistic regression at the budgets."""
    rng = np.random.default_rng(seed)
    asked = list(rng.choice(len(X), size=5, replace=False))
    errors = []
    for budget in budgets:
        while len(asked) < budget:
            left = np.setdiff1d(np.arange(len(X)), asked)
            if by_margin and len(set(y[asked])) > 1:
                model = LogisticRegression(max_iter=200).fit(X[asked], y[asked])
                best = np.sort(model.predict_proba(X[left]), axis=1)[:, ::-1]
                left = left[np.argsort(best[:, 0] - best[:, 1])]
            else:
                rng.shuffle(left)
            asked.append(left[0])
        found = np.full(len(X), y[asked[0]])
        if len(set(y[asked])) > 1:
            found = LogisticRegression(max_iter=200).fit(X[asked], y[asked]).predict(X)
        found[asked] = y[asked]
        errors.append(np.mean(found != y))
    return errors


def askmeans(seed, budget):
    """The error of askmeans with so many answers."""
    model = ActiveFuzzyKMeans(
        3, oracle=oracles.TableOracle.from_labels(y), ask="group", budget=budget, random_state=seed
    ).fit(X)
    return np.mean(model.labels_ != y)


curves = {
    "askmeans": [[askmeans(seed, budget) for budget in budgets] for seed in seeds],
    "logistic, least sure first": [logistic(seed, True) for seed in seeds],
    "logistic, at random": [logistic(seed, False) for seed in seeds],
}
alone = FuzzyKMeans(3, n_init=5, random_state=0).fit(X)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, errors in curves.items():
    ax.plot(budgets, np.mean(errors, axis=0), "o-", label=name)
error = 1 - metrics.matched_accuracy(y, alone.labels_)
ax.axhline(error, ls="--", color="grey", label="no questions")
ax.set(xlabel="answers", ylabel="share of items wrong", ylim=0)
ax.legend()

# %%
# The first answers only name the groups that the data shows already, which is why it starts low.
# One data set proves little: ``python benchmarks/labels.py`` compares on 14 tables.
