"""
The paper's strategies beside the default
=========================================

Guarantees, or fewer questions?
"""

# %%
# An expert sees twice as many features as the computer does, so no fit alone can know the target.
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, TwoPhase, budgets, metrics, oracles

full = StandardScaler().fit_transform(load_breast_cancer().data)
target = FuzzyKMeans(2, fuzzifier=1.3, n_init=5, tol=1e-8, random_state=0).fit(full).memberships_
X = full[:, ::2]
expert = oracles.TableOracle(target)
warnings.simplefilter("ignore")  # small budgets do not meet every group

questions = [30, 60, 120, 240]
strategies = {
    "stratified (the default)": "auto",
    "two-phase, our order": TwoPhase(),
    "two-phase, the paper's order": TwoPhase(order="distance"),
}
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, strategy in strategies.items():
    errors = []
    for budget in questions:
        if strategy != "auto":
            size = budgets.plan_budget(budget, len(X), 2, kind=TwoPhase).strategy.sample_size
            strategy = TwoPhase(sample_size=size, order=strategy.order)
        model = ActiveFuzzyKMeans(
            2, oracle=expert, strategy=strategy, budget=budget, random_state=0
        )
        memberships = model.fit(X).memberships_
        errors.append(metrics.membership_error(target, memberships, how="mean"))
    ax.plot(questions, errors, "o-", label=name)
alone = FuzzyKMeans(2, fuzzifier=1.3, n_init=5, random_state=0).fit(X)
error = metrics.membership_error(target, alone.memberships_, how="mean")
ax.axhline(error, ls="--", color="grey", label="no questions")
ax.set(xlabel="questions", ylabel="mean error of a membership", xscale="log", ylim=0)
ax.legend()

# %%
# The paper's algorithms come with theorems, under assumptions that real data does not meet. The
# default has none, and benchmarks instead.
