"""Rounding is forgiven, nothing else is."""

import numpy as np
import pytest
from last_bits import same_but_for_rounding

from askmeans.results import Diagnostics

HERE = Diagnostics(beta=0.3, stopped="budget", models={"a": 0.5}, notes=("one",))


def test_the_last_bits_may_differ():
    same_but_for_rounding(np.array([[0.1 + 0.2]]), np.array([[0.3]]))
    other = Diagnostics(beta=0.1 + 0.2, stopped="budget", models={"a": 0.5}, notes=("one",))
    assert other != HERE
    same_but_for_rounding(other, HERE)


@pytest.mark.parametrize(
    "change",
    [{"beta": 0.3000001}, {"stopped": "items"}, {"models": {"b": 0.5}}, {"models": {"a": 0.6}},
     {"notes": ()}, {"notes": ("two",)}, {"rho": 0.1}],
)  # fmt: skip
def test_everything_else_may_not(change):
    told = {"beta": 0.3, "stopped": "budget", "models": {"a": 0.5}, "notes": ("one",)}
    with pytest.raises((AssertionError, TypeError)):
        same_but_for_rounding(Diagnostics(**{**told, **change}), HERE)
