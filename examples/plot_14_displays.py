"""
Every plot of askmeans
======================

Which display answers which question?
"""

# %%
# *Which items lie between groups?* ``SoftScatterDisplay`` mixes the groups' colours.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles, plotting

X = StandardScaler().fit_transform(load_wine().data)
model = FuzzyKMeans(3, fuzzifier=1.5, random_state=0).fit(X)
plotting.SoftScatterDisplay.from_estimator(model, X)
plt.show()

# %%
# *How soft is it as a whole?* ``MembershipHeatmapDisplay`` has one row per item.
plotting.MembershipHeatmapDisplay.from_estimator(model)
plt.show()

# %%
# *How many clusters?* ``ClusterNumbersDisplay`` has what several indices say.
numbers = metrics.choose_n_clusters(X, range(2, 7), n_resamples=0, random_state=0)
plotting.ClusterNumbersDisplay(numbers).plot()
plt.show()

# %%
# *Can memberships be believed as probabilities?* ``ReliabilityDisplay`` has how often the strongest
# one is right, by its size, for items without an answer.
X, y = load_digits(n_class=5, return_X_y=True)
expert = oracles.TableOracle.from_labels(y)
asked = ActiveFuzzyKMeans(5, oracle=expert, ask="group", budget=12, random_state=0).fit(X)
rest = np.setdiff1d(np.arange(len(X)), [answer.items[0] for answer in asked.history_])
plotting.ReliabilityDisplay.from_estimator(asked, X[rest], y[rest])
