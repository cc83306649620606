"""
Clusters that collapse, and the remedy
======================================

In many dimensions the usual fuzzifier, 2, makes all centres meet in one place. What to do?
"""

# %%
# Eight groups in 32 dimensions. Each fit starts from the true centres, so a collapse is the model's
# own optimum, not a failed search.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from askmeans import FuzzyKMeans
from askmeans.exceptions import CollapseWarning

rng = np.random.default_rng(0)
truth = 1.5 * rng.normal(size=(8, 32))
y = np.arange(1200) % 8
X = truth[y] + rng.normal(size=(1200, 32))

fuzzifiers = [1.2, 1.5, 1.7, 1.8, 1.85, 1.9, 1.95, 2.0, 2.2]
scores, merged = [], []
for fuzzifier in fuzzifiers:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FuzzyKMeans(8, fuzzifier=fuzzifier, init=truth, tol=1e-7).fit(X)
    scores.append(adjusted_rand_score(y, model.labels_))
    merged.append(any(issubclass(each.category, CollapseWarning) for each in caught))

# %%
# askmeans warns where clusters have merged; ``fuzzifier="auto"`` keeps them apart.
auto = FuzzyKMeans(8, fuzzifier="auto", n_init=3, random_state=0).fit(X)
score = adjusted_rand_score(y, auto.labels_)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(fuzzifiers, scores, color="grey", zorder=0)
colors = ["tab:red" if each else "tab:blue" for each in merged]
ax.scatter(fuzzifiers, scores, c=colors, s=60)
ax.scatter(auto.fuzzifier_, score, marker="*", s=300, color="tab:orange", label='fuzzifier="auto"')
ax.scatter([], [], color="tab:red", label="CollapseWarning")
ax.set(xlabel="fuzzifier", ylabel="adjusted Rand index")
ax.legend()
print(f"auto chose {auto.fuzzifier_:.2f}: adjusted Rand index {score:.2f}")
