"""What a cell shows, in a real kernel: tables, diagrams, one bar that moves."""

import pytest

CELLS = [
    """from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, oracles, sessions
X = [[1.0], [1.5], [2.0], [8.0], [8.5], [9.0]]
session = sessions.create("fruit.db", X, n_clusters=2, random_state=0,
    items=["<b>plum</b>", "cherry", "grape", "melon", "pumpkin", "papaya"])
session""",
    "session.ask()[0]",
    "session.result()",
    "FuzzyKMeans(2)",
    """expert = oracles.TableOracle.from_labels([0, 0, 0, 1, 1, 1])
model = ActiveFuzzyKMeans(2, oracle=expert, verbose=True, random_state=0).fit(X)""",
    "model",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of every cell."""
    import nbformat  # takes seconds, in one process only
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("display")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=240, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in book.cells]


def html_of(shown):
    return shown[-1].data["text/html"]


def test_a_session_shows_where_it_stands_and_examples_as_text(outputs):
    shown = html_of(outputs[0])
    assert "Session main" in shown
    assert "answered 0" in shown
    assert "&lt;b&gt;plum" in shown
    assert "<b>" not in shown


def test_a_question_and_a_result_show_tables(outputs):
    assert "Question 1" in html_of(outputs[1])
    shown = html_of(outputs[2])
    assert "Group A" in shown
    assert "items 6" in shown


def test_estimators_show_scikit_learns_diagram(outputs):
    assert "Not fitted" in html_of(outputs[3])
    fitted = html_of(outputs[5])
    assert "ActiveFuzzyKMeans" in fitted
    assert "Not fitted" not in fitted
    assert "Fitted" in fitted


def test_progress_is_one_bar_and_no_line_per_answer(outputs):
    shown = outputs[4]
    assert any("application/vnd.jupyter.widget-view+json" in each.get("data", {}) for each in shown)
    assert sum(each.get("text", "").count("\n") for each in shown) <= 1
