"""
Data that does not fit into memory
==================================

A file is larger than memory. Cluster it where it lies, or a sample of it?
"""

# %%
# A file of half a million rows stands for a larger one. It is read through a memory map; no array
# of items x clusters is made while iterating.
import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from askmeans import FuzzyKMeans

rng = np.random.default_rng(0)
centers = 3.0 * rng.normal(size=(5, 8))
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "big.npy"
file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(500_000, 8))
for start in range(0, len(file), 50_000):
    labels = rng.integers(0, 5, size=50_000)
    file[start : start + 50_000] = centers[labels] + rng.normal(size=(50_000, 8))
file.flush()

# %%
# Fit the whole file, and samples of growing size; compare the centres.
X = np.load(path, mmap_mode="r")
tracemalloc.start()
whole = FuzzyKMeans(5, random_state=0).fit(X)
peak = tracemalloc.get_traced_memory()[1] / 2**20
tracemalloc.stop()
memory = whole.memberships_.nbytes / 2**20
print(f"data {X.nbytes / 2**20:.0f} MiB, memberships {memory:.0f} MiB, peak {peak:.0f} MiB")

sizes = [500, 2_000, 8_000, 32_000, 128_000]
gaps = []
for size in sizes:
    sample = X[np.sort(rng.choice(len(X), size=size, replace=False))]
    model = FuzzyKMeans(5, init=whole.cluster_centers_).fit(sample)
    gaps.append(np.abs(model.cluster_centers_ - whole.cluster_centers_).max())

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.loglog(sizes, gaps, "o-")
ax.set(xlabel="rows in the sample", ylabel="largest error of a centre")
ax.set_title("centres need few rows; memberships of all rows need a pass over the file")
folder.cleanup()
