"""
A group nobody thought of
=========================

You asked for two groups, and there are three. "None of these" finds the third.
"""

# %%
# An expert who knows three species is asked about two groups. A flower of the third is in none of
# them, and the expert says so.
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from askmeans import ActiveFuzzyKMeans, oracles
from askmeans.exceptions import MoreClustersWarning
from askmeans.plotting import SoftScatterDisplay

X, y = load_iris(return_X_y=True)
botanist = oracles.TableOracle.from_labels(y)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", MoreClustersWarning)  # it says what follows
    two = ActiveFuzzyKMeans(2, oracle=botanist, ask="group", budget=30, random_state=0).fit(X)
print(f"in none of the groups: {two.diagnostics_['unassigned']:.0%} of the flowers asked about")

# %%
# ``n_clusters="auto"`` takes one more group when enough items belong to none, and asks about these
# items again, but about no others.
found = ActiveFuzzyKMeans("auto", oracle=botanist, ask="group", budget=40, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for model, ax in zip((two, found), axes, strict=True):
    SoftScatterDisplay.from_estimator(model, X, ax=ax)
axes[0].set_title("two groups: the third has no colour of its own")
axes[1].set_title(f"n_clusters='auto' found {found.n_clusters_}")
