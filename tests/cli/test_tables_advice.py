"""`--advice` and names of groups as evidence of `askmeans init` and `askmeans fit`."""

import json

import numpy as np
import pandas as pd
import pytest

from askmeans import sessions
from askmeans.datasets import make_messages

MESSAGES = make_messages(100, mixed=0.0)
TOPICS = list(MESSAGES.names)


@pytest.fixture
def folder(tmp_path):
    """Messages, old labels of which 70 % are right and some missing, and scores."""
    rng = np.random.default_rng(0)
    truth = np.array(MESSAGES.topics)
    old = np.where(rng.random(100) < 0.7, truth, rng.choice(TOPICS, 100)).astype(object)
    old[:5] = None
    frame = pd.DataFrame({"message": MESSAGES.texts, "old": old})
    for number, topic in enumerate(TOPICS):
        frame[f"s{number}"] = 1.0 + 8.0 * (truth == topic)
    frame.loc[:9, [f"s{number}" for number in range(4)]] = np.nan
    frame.to_csv(tmp_path / "d.csv", index=False)
    return tmp_path


def accuracy(memberships):
    """The share of messages in the group of their topic."""
    strongest = np.asarray(memberships)[:, -4:].astype(float).argmax(axis=1)
    return float((np.array(TOPICS)[strongest] == np.array(MESSAGES.topics)).mean())


def test_advice_is_weighed_and_is_neither_a_feature_nor_shown(askmeans, folder):
    askmeans(
        "init", "s.db", "d.csv", "-k", 4, "--advice", "old", "--advice", "s0,s1,s2,s3",
        "--names", ",".join(TOPICS), "--no-names", cwd=folder,
    )  # fmt: skip
    with sessions.open(folder / "s.db") as session:
        assert session.rows.columns == ["message"]
        assert {name[:7] for name in session.config.feature_names} == {"message"}
        answers = session.advisers.answers()
        assert (len(answers["old"]), len(answers["s0,s1,s2,s3"])) == (95, 90)
        assert answers["s0,s1,s2,s3"][20] == pytest.approx(
            tuple(0.75 if topic == MESSAGES.topics[20] else 1 / 12 for topic in TOPICS)
        )
        assert accuracy(session.result().memberships) > 0.7
        assert session.status().answered == 0


def test_labels_name_the_groups_where_nobody_else_does(askmeans, folder):
    askmeans("init", "s.db", "d.csv", "-k", 4, "--advice", "old", "--text", "message", cwd=folder)
    with sessions.open(folder / "s.db") as session:
        assert session.groups.names == sorted(TOPICS)


def test_a_fit_without_questions_rests_on_names_and_advice(askmeans, folder):
    base = ("fit", "d.csv", "-k", 4, "--expert", "none", "--features", "message", "--force")
    names = (
        "--names",
        "parcel and courier,invoice and card,refund and exchange,log in and password",
    )
    results = {}
    for key, more in {
        "plain": (),
        "names": names,
        "off": (*names, "--no-names"),
        "advice": (*names, "--advice", "s0,s1,s2,s3"),
    }.items():
        askmeans(*base, *more, cwd=folder)
        results[key] = pd.read_csv(folder / "d.memberships.csv").iloc[:, 1:]
    assert np.allclose(results["plain"], results["off"])
    assert accuracy(results["names"]) > 0.5
    assert accuracy(results["advice"]) > accuracy(results["names"])
    summary = json.loads((folder / "d.summary.json").read_text())
    assert summary["n_queries"] == 0
    assert summary["diagnostics"]["expected_wrong"] > 0


def test_advice_in_a_fit_with_an_expert(askmeans, folder):
    frame = pd.read_csv(folder / "d.csv").assign(topic=MESSAGES.topics)
    frame.to_csv(folder / "d.csv", index=False)
    base = ("fit", "d.csv", "-k", 4, "--expert", "labels:topic", "--budget", 8, "--no-names",
            "--features", "message", "--force", "--json")  # fmt: skip
    plain = json.loads(askmeans(*base, cwd=folder).stdout)
    advised = json.loads(askmeans(*base, "--advice", "old", cwd=folder).stdout)
    assert advised["matched_accuracy"] > plain["matched_accuracy"]
    assert advised["n_queries"] == plain["n_queries"] == 8


@pytest.mark.parametrize(
    ("advice", "message"),
    [
        ("nothing", "nothing"),
        ("message", "must have names of groups"),
        ("s0,s1", "a column of scores"),
        ("s0,s1,s2,message", "must be scores"),
    ],
)
def test_advice_that_cannot_be_read_is_refused(askmeans, folder, advice, message):
    done = askmeans("init", "s.db", "d.csv", "-k", 4, "--advice", advice, "--names",
                    ",".join(TOPICS), cwd=folder, ok=False)  # fmt: skip
    assert done.returncode != 0
    assert message in done.stderr
    assert not (folder / "s.db").exists()


def test_init_suggests_an_embedding_for_short_texts_and_several_languages(askmeans, folder):
    base = ("init", "s.db", "d.csv", "-k", 4, "--features", "message")
    assert (
        "hint: message has 10 words on average; --embed wordllama"
        in askmeans(*base, cwd=folder).stdout
    )
    german = [
        "das ist nicht gut und die Rechnung ist falsch",
        "wo ist mein Paket und der Bote",
    ] * 30
    frame = pd.DataFrame({"message": [*MESSAGES.texts, *german]})
    frame.to_csv(folder / "d.csv", index=False)
    out = askmeans("init", "t.db", "d.csv", "-k", 4, "--text", "message", cwd=folder).stdout
    assert "hint: message has texts in de, en" in out
