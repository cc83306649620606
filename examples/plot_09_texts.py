"""
Texts, before and after asking
==============================

Messages to a shop in four topics. Where does clustering alone go wrong, what do 30 answers fix?
"""

# %%
# ``askmeans demo --data`` writes these messages; every fifth has two topics.
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, datasets, oracles
from askmeans.metrics import match_clusters
from askmeans.tables import read_items

messages = datasets.make_messages()
X = read_items({"message": messages.texts}).features
truth = messages.shares.argmax(axis=1)

alone = FuzzyKMeans(4, fuzzifier="auto", n_init=5, random_state=0).fit(X)
expert = oracles.TableOracle(messages.shares)
asked = ActiveFuzzyKMeans(4, oracle=expert, ask="group", budget=30, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, model, title in zip(axes, (alone, asked), ("alone", "after 30 answers"), strict=True):
    matched = match_clusters(messages.shares, model.memberships_)
    labels = model.memberships_[:, matched].argmax(axis=1)
    ax.imshow(confusion_matrix(truth, labels), cmap="Blues")
    for row, column in np.ndindex(4, 4):
        count = np.sum((truth == row) & (labels == column))
        ax.text(column, row, count, ha="center", va="center")
    ax.set_xticks(range(4), messages.names, rotation=30)
    ax.set_yticks(range(4), messages.names)
    ax.set_title(f"{title}: {np.mean(labels == truth):.0%} right")
axes[0].set_ylabel("in truth")

# %%
# The expert names both topics of a message that has two, and how much it is about each. Those
# without an answer are mixtures, too: here the six that are nearest to half and half.
answered = [answer.items[0] for answer in asked.history_]
two = np.setdiff1d(np.flatnonzero(messages.shares.max(axis=1) < 1.0), answered)
rows = two[np.argsort(asked.memberships_[two].max(axis=1))[:6]][::-1]

figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
left = np.zeros(len(rows))
for name, shares in zip(messages.names, asked.memberships_[rows].T, strict=True):
    ax.barh(range(len(rows)), shares, left=left, label=name)
    left += shares
ax.set_yticks(range(len(rows)), [fill(messages.texts[row], 60) for row in rows])
ax.set_xlabel("membership")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
