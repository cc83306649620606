"""What is expected of items follows from what was seen of answers."""

import numpy as np
import pytest

from askmeans.policy.expected_errors import error_by_doubt, error_of_hard
from askmeans.policy.models.training import Training


@pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
def test_errors_where_doubt_is_small_follow_from_those_where_it_is_large(power):
    rng = np.random.default_rng(0)
    doubt = np.exp(rng.uniform(-3.0, 0.0, size=3000))  # doubtful items are asked
    mistakes = rng.random(3000) < 0.5 * doubt**power
    error_of = error_by_doubt(doubt, 2 / 3 * mistakes, np.ones(3000), 3)
    left = np.linspace(0.01, 0.1, 50)  # those without much are left
    assert error_of(left).mean() == pytest.approx(2 / 3 * 0.5 * (left**power).mean(), rel=0.5)
    assert error_of(np.array([1e6])) == [2 / 3]  # no row can be more wrong


def expected(mean, truth, n_asked, *, held_out=None, trees=0.0):
    """What is expected of a pool whose first items were asked, each as much as any other."""
    k = mean.shape[1]
    Y, hard = np.eye(k)[truth], np.eye(k)[mean.argmax(axis=1)]
    rows = mean[:n_asked] if held_out is None else held_out
    training = Training.of(np.arange(n_asked), Y[:n_asked], np.ones(n_asked), np.ones(n_asked))
    errors = np.abs(np.eye(k)[rows.argmax(axis=1)] - Y[:n_asked]).mean(axis=1)
    found = error_of_hard(mean, hard, training, rows, errors, trees)
    return found[n_asked:], np.abs(hard - Y).mean(axis=1)[n_asked:]


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("sharp", [0.5, 1.0, 2.0])
def test_it_is_as_wrong_as_it_will_be_whether_models_are_too_sure_or_not_sure_enough(k, sharp):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(k, 0.4), size=1200)
    truth = np.array([rng.choice(k, p=p) for p in P])
    mean = P**sharp / (P**sharp).sum(axis=1, keepdims=True)
    found, error = expected(mean, truth, 200)
    assert error.mean() / 1.5 < found.mean() < 1.5 * error.mean()


def test_models_that_were_wrong_of_answers_are_not_believed_of_items():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=500)
    sure = np.where(np.eye(2)[truth] > 0, 0.99, 0.01)
    right, _ = expected(sure, truth, 60)
    wrong, _ = expected(sure, truth, 60, held_out=sure[:60][:, ::-1])
    assert right.mean() < 0.01
    assert wrong.mean() > 0.3


def test_the_more_trees_count_the_less_is_expected():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.4), size=500)
    truth = np.array([rng.choice(3, p=p) for p in P])
    none, some, all_ = (expected(P, truth, 60, trees=t)[0].mean() for t in (0.0, 0.5, 1.0))
    assert 0.5 * none < all_ < some < none


def test_no_mistake_so_far_does_not_mean_that_there_is_none():
    truth = np.arange(2000) % 3
    sure = np.eye(3)[truth]
    few, many = (expected(sure, truth, n)[0].mean() for n in (20, 200))
    assert 0.0 < 2 * many < few < 2 / 3 / 20


def test_no_item_is_expected_to_be_more_wrong_than_a_row_can_be():
    rng = np.random.default_rng(0)
    guesses = rng.dirichlet(np.full(5, 5.0), size=300)
    found, _ = expected(guesses, rng.integers(5, size=300), 50)
    assert found.max() <= 2 / 5
    assert found.mean() > 0.2


def test_where_everything_was_asked_there_is_an_answer_too():
    truth = np.arange(30) % 3
    found, _ = expected(np.eye(3)[truth], truth, 30)
    assert len(found) == 0
