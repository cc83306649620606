"""
Soft against hard
=================

Which items should a person look at? Hard clusters cannot tell; memberships can.
"""

# %%
# Three overlapping groups. A hard clustering puts every item somewhere, and is wrong about some.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from askmeans import FuzzyKMeans
from askmeans.metrics import match_clusters
from askmeans.plotting import SoftScatterDisplay

X, y = make_blobs(600, centers=[[0, 0], [3, 0], [1.5, 2.4]], cluster_std=0.9, random_state=0)
hard = KMeans(3, n_init=5, random_state=0).fit(X)
soft = FuzzyKMeans(3, n_init=5, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
axes[0].scatter(*X.T, c=hard.labels_, s=12, cmap="viridis")
axes[0].set_title("hard: every item in one group")
SoftScatterDisplay.from_estimator(soft, X, ax=axes[1])
axes[1].set_title("soft: colours mix between groups")

# %%
# Send the least certain items to a person first. Below: the share of the errors found by looking
# at so many items, beside looking at items at random.
matched = soft.memberships_[:, match_clusters(np.eye(3)[y], soft.memberships_)]
right = matched.argmax(axis=1) == y
order = np.argsort(soft.memberships_.max(axis=1))
found = np.cumsum(~right[order]) / (~right).sum()

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(np.arange(1, 601), found, label="least certain first")
ax.plot([0, 600], [0, 1], "--", color="grey", label="at random")
ax.set(xlabel="items looked at", ylabel="share of the errors found")
ax.legend()
print(f"{found[119]:.0%} of the errors are among the 120 least certain of 600 items")
