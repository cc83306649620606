"""
When to stop asking
===================

The estimated error says when it is enough. Can it be believed?
"""

# %%
# The demo's drawn faces: moods with true shares. After every few answers, the error it expects, its
# band, and the error in truth, which nobody would know.
import matplotlib.pyplot as plt
import numpy as np

from askmeans import ActiveFuzzyKMeans, datasets, oracles

faces = datasets.make_faces()
expert = oracles.TableOracle(faces.memberships)
budgets = [6, 8, 12, 16, 24, 32, 48, 64]
expected, low, high, truth = [], [], [], []
for budget in budgets:
    model = ActiveFuzzyKMeans(4, oracle=expert, ask="group", budget=budget, random_state=0)
    model.fit(faces.X)
    expected.append(model.diagnostics_["estimated_error"])
    low.append(model.diagnostics_["error_band"][0])
    high.append(model.diagnostics_["error_band"][1])
    truth.append(np.abs(model.memberships_ - faces.memberships).mean())

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.fill_between(budgets, low, high, alpha=0.2, label="band")
ax.plot(budgets, expected, "o-", label="expected")
ax.plot(budgets, truth, "k--", label="in truth")
ax.set(xlabel="answers", ylabel="mean error of a membership", ylim=0)
ax.legend()

# %%
# A rule: choose the error you can live with, and stop when the upper end of the band is below it.
enough = next(budget for budget, top in zip(budgets, high, strict=True) if top < 0.05)
print(f"for an error of at most 0.05: {enough} answers")
