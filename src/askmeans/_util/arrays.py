"""Types of arrays that many modules name."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]  # row numbers, or places in an array
Items = NDArray[np.floating]  # rows of features, in single or double precision
Bools = NDArray[np.bool_]
Single = NDArray[np.float32]  # features of texts and pictures
