"""
An annotator with a crooked scale
=================================

Somebody never says less than 20 %. Is that found, and does it harm?
"""

# %%
# The same target, told by four people: one is exact, one adds 20 % to everything, one never goes
# beyond 20 and 80 %, and one drifts.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles

X = StandardScaler().fit_transform(load_iris().data)
target = FuzzyKMeans(3, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_


class Crooked(oracles.TableOracle):
    """Answers through a scale of its own."""

    def __init__(self, memberships, scale):
        super().__init__(memberships)
        self.scale, self.said = scale, 0

    def answer(self, queries):
        """The true answers, bent."""
        exact = super().answer(queries)
        numbers = self.said + np.arange(len(exact))
        self.said += len(exact)
        return self.scale(exact, numbers).clip(0.0, 1.0)


people = {
    "exact": lambda said, _: said,
    "adds 20 %": lambda said, _: said + 0.2,
    "20 to 80 % only": lambda said, _: 0.2 + 0.6 * said,
    "drifts upwards": lambda said, numbers: said + 0.004 * numbers,
}
errors, found = {}, {}
for name, scale in people.items():
    model = ActiveFuzzyKMeans(3, oracle=Crooked(target, scale), budget=90, random_state=0).fit(X)
    taken = np.abs(scale(target.ravel(), np.arange(target.size) % 90) - target.ravel()).mean()
    errors[name] = (taken, metrics.membership_error(target, model.memberships_, how="mean"))
    found[name] = model.diagnostics_["annotators"]["me"]

# %%
# A scale is found from what answers must satisfy: memberships of an item sum to one. What raises
# all answers, or drifts, shows in the sums. So do answers drawn to the middle, with three groups
# and more: of all scales with these sums the one around the middle is taken, if answers fill it.
for name, scale in found.items():
    print(f"{name:16} offset {scale['offset']:5.2f}, gain {scale['gain']:4.2f}")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
places = np.arange(len(errors))
ax.barh(places - 0.2, [each[0] for each in errors.values()], 0.4, label="answers at their word")
ax.barh(places + 0.2, [each[1] for each in errors.values()], 0.4, label="askmeans")
ax.set_yticks(places, errors)
ax.set(xlabel="mean error of a membership")
ax.invert_yaxis()
ax.legend()
