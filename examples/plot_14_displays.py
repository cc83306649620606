"""
Every picture askmeans draws
============================

Which display answers which question?
"""

# %%
# *Which items lie between groups?* ``SoftScatterDisplay`` mixes the groups' colours.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles, plotting

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
model = FuzzyKMeans(3, fuzzifier=1.5, random_state=0).fit(X)
plotting.SoftScatterDisplay.from_estimator(model, X)
plt.show()

# %%
# *How soft is it as a whole?* ``MembershipHeatmapDisplay`` has one row per item.
plotting.MembershipHeatmapDisplay.from_estimator(model)
plt.show()

# %%
# *Has it converged?* ``ConvergenceDisplay`` has the objective after each iteration.
plotting.ConvergenceDisplay.from_estimator(model)
plt.show()

# %%
# *How many clusters?* ``ClusterNumbersDisplay`` has what several indices say.
found = metrics.choose_n_clusters(X, range(2, 7), n_resamples=0, random_state=0)
plotting.ClusterNumbersDisplay(found).plot()
plt.show()

# %%
# *How does an error fall, over repeated runs?* ``CurveDisplay`` has a mean and a band. Here the
# expert is wrong now and then, and otherwise in each run.
sizes = [8, 16, 32]
errors = []
for size in sizes:
    errors.append([])
    for seed in range(4):
        expert = oracles.NoisyOracle(oracles.TableOracle.from_labels(y), std=0.4, random_state=seed)
        asked = ActiveFuzzyKMeans(3, oracle=expert, ask="group", budget=size, random_state=seed)
        errors[-1].append(1 - metrics.matched_accuracy(y, asked.fit(X).labels_))
low, high = map(min, errors), map(max, errors)
mean = [sum(each) / len(each) for each in errors]
display = plotting.CurveDisplay(sizes, mean, list(low), list(high)).plot(label="askmeans")
display.ax_.set(xlabel="answers", ylabel="share of items wrong")
plt.show()

# %%
# *Can memberships be believed as probabilities?* ``ReliabilityDisplay`` has how often the strongest
# one is right, by its size, for items without an answer.
X, y = load_digits(n_class=5, return_X_y=True)
expert = oracles.TableOracle.from_labels(y)
asked = ActiveFuzzyKMeans(5, oracle=expert, ask="group", budget=12, random_state=0).fit(X)
rest = np.setdiff1d(np.arange(len(X)), [answer.items[0] for answer in asked.history_])
plotting.ReliabilityDisplay.from_estimator(asked, X[rest], y[rest])
