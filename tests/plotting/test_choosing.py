"""The picture of several numbers of clusters."""

import numpy as np

from askmeans.metrics.choosing import ClusterNumbers
from askmeans.plotting import ClusterNumbersDisplay


def test_each_index_has_a_curve_with_its_best_on_top_and_disagreement_is_the_title():
    numbers = ClusterNumbers(
        n_clusters=(2, 3, 4),
        indices={
            "xie_beni": np.array([0.1, 0.2, np.inf]),
            "stability": np.array([0.5, 0.9, 0.7]),
        },
        merged=(False, False, False),
    )
    display = ClusterNumbersDisplay(numbers).plot()
    assert display.lines_["xie_beni"].get_ydata()[:2].tolist() == [1.0, 0.0]
    assert display.lines_["stability"].get_ydata().argmax() == 1
    assert display.ax_.get_title() == "The indices disagree"
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_what_most_indices_say_is_the_title():
    numbers = ClusterNumbers(
        n_clusters=(2, 3), indices={"stability": np.array([0.5, 0.9])}, merged=(False, False)
    )
    assert ClusterNumbersDisplay(numbers).plot().ax_.get_title() == "3 clusters"
