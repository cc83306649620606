"""Settings that must be in force before scipy is imported."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips some of its checks
os.environ.setdefault("MPLBACKEND", "Agg")
