"""Pictures of a soft clustering, in scikit-learn's Display manner.

Each class takes arrays, or an estimator through ``from_estimator``, draws with
``plot(ax=None)`` and keeps what it drew as attributes that end in ``_``.
Nothing is shown or saved: that is the caller's choice.
"""

from askmeans.exceptions import MissingExtraError

try:
    import matplotlib as mpl  # noqa: F401  # only to say clearly what is missing
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "Pictures need matplotlib, which is not installed. "
        'Install it with pip install "askmeans[plot]".'
    ) from error

from askmeans.plotting.choosing import ClusterNumbersDisplay
from askmeans.plotting.convergence import ConvergenceDisplay
from askmeans.plotting.curves import CurveDisplay
from askmeans.plotting.heatmap import MembershipHeatmapDisplay
from askmeans.plotting.reliability import ReliabilityDisplay
from askmeans.plotting.scatter import SoftScatterDisplay

__all__ = [
    "ClusterNumbersDisplay",
    "ConvergenceDisplay",
    "CurveDisplay",
    "MembershipHeatmapDisplay",
    "ReliabilityDisplay",
    "SoftScatterDisplay",
]
