"""What models of the items expect, after language models have spoken, too."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.training import Training
from askmeans.policy.panel import ModelAnswers, Panel, People, weigh
from askmeans.policy.stacking import Rows, Stack, calibration, sharpened

__all__ = ["consulted"]

Floats = NDArray[np.float64]


def consulted(
    stack: Stack, models: Sequence[ModelAnswers], training: Training, rows: NDArray[np.intp]
) -> tuple[Panel, Stack]:
    """The panel, and the stack with what follows from it; as it was where nothing rests on it.

    `rows` are the numbers of the pool's items.
    """
    weight = training.weight
    people = People(
        items=rows[training.rows], Y=training.Y, expected=stack.held_out, weight=weight,
        folds=training.folds,
    )  # fmt: skip
    unasked = np.setdiff1d(np.arange(len(rows)), training.rows)
    panel, held_out = weigh(models, people, rows[unasked], stack.pool[unasked])
    if panel.is_silent:
        return panel, stack
    pool = panel.applied(rows, stack.pool)
    calibrate = calibration(hard=training.is_hard)
    sharpness = calibrate(held_out, training.Y, training.known, weight)
    sharp = sharpened(held_out, sharpness)
    found = Rows(
        pool=sharpened(pool, sharpness),
        held_out=sharp,
        uncertainty=_uncertainty(pool),
        held_out_uncertainty=_uncertainty(held_out),
        errors=np.abs(sharp - training.Y).mean(axis=1),
    ).account(training)
    # What to ask first is not a matter of models that nobody knows: one at chance would cost cards.
    if not panel.is_proven:
        found["uncertainty"] = stack.uncertainty
    return replace(panel, sharpness=sharpness), replace(stack, **found)


def _uncertainty(mean: Floats) -> Floats:
    """How unsure each row is: where a model is, or contradicts another or the policy, none wins."""
    return np.asarray(2.0 * (mean * (1.0 - mean)).mean(axis=1) + 1e-9)
