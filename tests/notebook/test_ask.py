"""A session or a model: what each becomes in a notebook."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from askmeans import ActiveFuzzyKMeans, notebook, oracles
from askmeans.exceptions import ParameterError

X = np.array([[1.0], [1.5], [2.0], [8.0], [8.5], [9.0]])


def answer_all(widget):
    session = widget.session
    while questions := session.ask():
        session.tell(questions[0].id, int(questions[0].items[0] >= 3))


def test_a_model_is_fitted_by_what_was_answered_as_by_an_oracle():
    model = ActiveFuzzyKMeans(2, ask="group", budget=6, random_state=0)
    widget = notebook.ask(model, X)
    answer_all(widget)
    assert widget.fit() is model
    expert = oracles.TableOracle.from_labels([0, 0, 0, 1, 1, 1])
    same = ActiveFuzzyKMeans(2, ask="group", budget=6, oracle=expert, random_state=0).fit(X)
    assert model.n_queries_ == same.n_queries_ == len(model.history_)
    np.testing.assert_allclose(model.memberships_, same.memberships_)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_allclose(model.predict_proba([[2.2]]), same.predict_proba([[2.2]]))


def test_a_data_frame_shows_its_columns_and_gives_its_index():
    frame = pd.DataFrame({"grams": X[:, 0]}, index=list("abcdef"))
    model = ActiveFuzzyKMeans(2, ask="group", random_state=0)
    widget = notebook.ask(model, frame, cluster_names=["small", "large"])
    assert list(widget.session.item(0).fields) == ["grams"]
    assert widget.fit().index_.tolist() == list("abcdef")
    assert model.feature_names_in_.tolist() == ["grams"]


def test_the_temporary_file_goes_with_the_widget():
    widget = notebook.ask(ActiveFuzzyKMeans(2, ask="group"), X)
    path = Path(widget.session.url)
    assert path.exists()
    widget.session.close()
    widget.folder.cleanup()
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((ActiveFuzzyKMeans(2),), "'X' parameter"),
        ((ActiveFuzzyKMeans(2, repeats=2), X), "'repeats' parameter"),
        ((object(), X), "'source' parameter"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        notebook.ask(*arguments)


def test_a_session_has_its_own_data(session):
    with pytest.raises(ParameterError, match=r"'X' parameter .* None with a session"):
        notebook.ask(session, X)
