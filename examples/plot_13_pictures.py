"""
Pictures, sorted softly
=======================

Some pictures are half beach, half forest. Do nine answers find them?
"""

# %%
# ``askmeans demo --data`` paints these scenes. Each picture becomes where its colours are and which
# way its edges run; nothing is downloaded.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from askmeans import ActiveFuzzyKMeans, datasets, oracles
from askmeans.tables import read_items

scenes = datasets.make_scenes()
with tempfile.TemporaryDirectory() as folder:
    for number, image in enumerate(scenes.images):
        plt.imsave(Path(folder) / f"{number:02}.png", image)
    X = read_items(folder).features
expert = oracles.TableOracle(scenes.shares)
model = ActiveFuzzyKMeans(3, oracle=expert, ask="group", budget=9, random_state=0).fit(X)

# %%
# All pictures, from the clearest to the most mixed. The bar below each has its shares: blue for
# beach, orange for forest, green for night.
colors = ["#0072B2", "#E69F00", "#009E73"]
order = np.argsort(-model.memberships_.max(axis=1))
figure, axes = plt.subplots(4, 9, figsize=(11, 4.6), layout="constrained")
for ax, row in zip(axes.flat, order, strict=True):
    ax.imshow(scenes.images[row])
    start = 0.0
    for share, color in zip(model.memberships_[row], colors, strict=True):
        ax.barh(104, 128 * share, left=start, height=12, color=color)
        start += 128 * share
    ax.set(xlim=(0, 128), ylim=(110, 0))
    ax.axis("off")
error = np.abs(model.memberships_ - scenes.shares).mean()
print(f"{model.n_queries_} answers for {len(X)} pictures; mean error of a share {error:.3f}")
