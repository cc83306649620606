"""
Two people who disagree
=======================

Bo is often wrong. Is it worth asking Ada about the same items?
"""

# %%
# Ada is right always, Bo in seven of ten. Each tells of every item asked about; nobody says who is
# better. The weight of each is learnt from how far others bear them out.
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from askmeans import metrics, sessions

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
groups = list(map(str, wine.target_names))


def work(cards, people, folder):
    """A session in which these people answer, each right so often; its accuracy."""
    rng = np.random.default_rng(0)
    session = sessions.create(
        f"{folder}/{cards}-{len(people)}.db", X, n_clusters=3, cluster_names=groups,
        annotations=len(people), random_state=0,
    )  # fmt: skip
    for _ in range(cards):
        for name, right in people.items():
            for question in session.ask(annotator=name):
                truth = wine.target[question.items[0]]
                said = truth if rng.random() < right else rng.integers(3)
                session.tell(question.id, int(said), annotator=name)
    result = session.result()
    agreement = session.people.agreement().alpha if len(people) > 1 else None
    session.close()
    return metrics.matched_accuracy(wine.target, result.memberships.argmax(axis=1)), agreement


# %%
# The same number of items, told by Bo alone and by both.
cards = [10, 20, 30]
with tempfile.TemporaryDirectory() as folder:
    bo = [work(n, {"Bo": 0.7}, folder)[0] for n in cards]
    both = [work(n, {"Ada": 1.0, "Bo": 0.7}, folder) for n in cards]

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(cards, bo, "o-", label="Bo alone")
ax.plot(cards, [accuracy for accuracy, _ in both], "o-", label="Ada and Bo, each item by both")
ax.set(xlabel="items", ylabel="matched accuracy", ylim=(0.9, 1.01))
ax.legend()
print(f"they agree with an alpha of {both[-1][1]:.2f}")
