"""
Choosing k: indices, or a person?
=================================

Indices see the data, not what it means.
"""

# %%
# Iris: three species, two of which look alike. ``choose_n_clusters`` asks several indices.
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, metrics, oracles
from askmeans.plotting import ClusterNumbersDisplay

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
found = metrics.choose_n_clusters(X, range(2, 7), random_state=0)
ClusterNumbersDisplay(found).plot()
print(found.summary)

# %%
# A botanist who says "none of these" leads to three, with so many answers:
botanist = oracles.TableOracle.from_labels(y)
numbers = []
budgets = [5, 8, 15, 20, 30]
for budget in budgets:
    model = ActiveFuzzyKMeans("auto", oracle=botanist, ask="group", budget=budget, random_state=0)
    numbers.append(model.fit(X).n_clusters_)

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.step(budgets, numbers, where="post", marker="o")
ax.axhline(found.suggested or 2, ls="--", color="grey", label="what the indices suggest")
ax.set(xlabel="answers", ylabel="groups", yticks=[2, 3])
ax.legend()
