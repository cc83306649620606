"""Settings that must be in force before scipy is imported."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips some of its checks
os.environ.setdefault("MPLBACKEND", "Agg")
# The tests run on every core already; threads that fight over them make small matrices slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# No test depends on the clock (compiling may fall into an example), and every run tries the same.
settings.register_profile("askmeans", deadline=None, derandomize=True)
settings.load_profile("askmeans")
