"""What models of the items expect, after language models have spoken, too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.expected_errors import calibrated, calibration, error_by_doubt, error_of_hard
from askmeans.policy.models.training import Training
from askmeans.policy.panel import ModelAnswers, Panel, People, weigh
from askmeans.policy.stacking import HeldOut, Stack, sharpened

__all__ = ["consulted", "expected_by"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Rows of the pool after language models spoke; those of the answered, held out."""

    mean: Floats
    held: Floats


def consulted(
    stack: Stack, models: Sequence[ModelAnswers], training: Training, rows: NDArray[np.intp]
) -> tuple[Panel, Stack]:
    """The panel, and the stack with what follows from it; as it was where nothing rests on it.

    `rows` are the numbers of the pool's items.
    """
    before, held, power = _probabilities(stack, training)
    people = People(
        items=rows[training.rows], Y=training.Y, expected=held, weight=_weight(training),
        folds=training.folds,
    )  # fmt: skip
    unasked = np.setdiff1d(np.arange(len(rows)), training.rows)
    panel, held = weigh(models, people, rows[unasked], before[unasked])
    if panel.is_silent:
        return panel, stack
    mean = panel.applied(rows, before)
    sharpness = _sharpness(stack, training, held)
    panel = replace(panel, power=power, sharpness=sharpness)
    found = _with_rows(stack, training, _Rows(mean=mean, held=held), sharpness)
    # What to ask first is not a matter of models that nobody knows: one at chance would cost cards.
    return panel, found if panel.is_proven else replace(found, doubt=stack.doubt)


def expected_by(stack: Stack, panel: Panel, X: NDArray[np.floating]) -> Floats:
    """What models expect of any items, before language models have spoken."""
    if panel.power is None:
        return stack.predict(X)
    return calibrated(replace(stack, sharpness=1.0).predict(X), panel.power)


def _probabilities(stack: Stack, training: Training) -> tuple[Floats, Floats, float | None]:
    """What models expect of the pool and, held out, of the answered; as probabilities if hard."""
    if not stack.answers_are_hard:
        return stack.pool, stack.held_out, None
    outs = np.tensordot(stack.weights, np.stack([f.held_out for f in stack.fitted]), 1)
    mean = np.tensordot(stack.weights, np.stack([f.pool for f in stack.fitted]), 1)
    power = calibration(outs, training.Y)
    return calibrated(mean, power), calibrated(outs, power), power


def _sharpness(stack: Stack, training: Training, held: Floats) -> float:
    """The power of rows with the least error."""
    return HeldOut(
        outs=held[None], Y=training.Y, known=training.known, weight=_weight(training),
        prior=np.ones(1), hard=stack.answers_are_hard,
    ).sharpness(held)  # fmt: skip


def _weight(training: Training) -> Floats:
    """What each answer is worth, as stacking has it."""
    weight = training.sample_weight * np.sqrt(training.stratum_size)
    return np.asarray(weight / weight.mean())


def _with_rows(stack: Stack, training: Training, rows: _Rows, sharpness: float) -> Stack:
    """The stack with other rows, and the errors to expect of them."""
    Y, weight = training.Y, _weight(training)
    U, sharp = sharpened(rows.mean, sharpness), sharpened(rows.held, sharpness)
    errors = np.abs(sharp - Y).mean(axis=1)
    doubt = _doubt(rows.mean)
    if stack.answers_are_hard:
        expected = error_of_hard(rows.mean, U, training, rows.held, errors)
    else:
        expected = error_by_doubt(_doubt(rows.held), errors, weight, Y.shape[1])(doubt)
    return replace(
        stack,
        pool=U,
        doubt=doubt,
        expected=expected,
        misfit=float(weight @ np.square(sharp - Y).mean(axis=1) / len(Y)),
        n_mistakes=float((weight @ errors) ** 2 / max(weight**2 @ errors**2, 1e-12)),
        held_out=sharp,
    )


def _doubt(mean: Floats) -> Floats:
    """How unsure each row is: where a model is, or contradicts another or the policy, none wins."""
    found: Floats = 2.0 * (mean * (1.0 - mean)).mean(axis=1) + 1e-9
    return found
