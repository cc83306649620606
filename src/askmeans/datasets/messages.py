"""Messages to a shop in four topics, made by code."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.checks import check_number

__all__ = ["TOPICS", "Messages", "make_messages"]

# What customers write about; every sentence can follow every opening.
_OPENINGS = "|Hello, |Please help: |Once more: |Good morning, |I am not happy: |A question: "
_SENTENCES = {
    "delivery": "my parcel has not arrived|the courier left the parcel at the wrong door|my order "
    "is a week late|the tracking number does not work|the parcel was delivered to a neighbour|"
    "when will the courier bring my order|the van drove past my door|the parcel went to my old "
    "address",
    "payment": "my card was charged twice|the invoice shows the wrong amount|my discount is "
    "missing from the invoice|the bank says that you charged me twice|I paid by card and still get "
    "a reminder|there is a fee on my bill that I did not agree to|the price on the bill is wrong|"
    "my voucher was not taken at the checkout",
    "returns": "the shoes are too small, how do I send them back|the lamp came broken and I want a "
    "refund|I would like to exchange the jacket for a larger size|the kettle stopped working, "
    "please take it back|how long does a refund take|I have lost the label for sending it back|"
    "the jacket has a hole, I want my money back|may I exchange a gift without the receipt",
    "account": "I cannot log in to my account|the reset link for my password does not come|the app "
    "says that my email is unknown|the app crashes when I open my profile|how do I delete my "
    "account|my password is not accepted|the website has forgotten my user name|please change "
    "the email of my account",
}
TOPICS = tuple(_SENTENCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Texts, and how much each is about which topic.

    Parameters
    ----------
    texts : list of str
        The messages.
    shares : ndarray of shape (n_messages, 4)
        How much each is about which topic.
    names : tuple of str, default=("delivery", "payment", "returns", "account")
        The topics.

    Examples
    --------
    >>> Messages(texts=["My card was charged twice."], shares=np.eye(4)[[1]]).topics
    ['payment']
    """

    texts: list[str]
    shares: NDArray[np.float64]
    names: tuple[str, ...] = TOPICS

    @property
    def topics(self) -> list[str]:
        """The main topic of each message."""
        return [self.names[number] for number in self.shares.argmax(axis=1)]


def make_messages(n: int = 160, seed: int = 0) -> Messages:
    """Make messages to a shop, those of `askmeans demo --data`: every fifth has two topics.

    Parameters
    ----------
    n : int, default=160
        How many.
    seed : int, default=0
        Which ones; the same seed makes the same.

    Returns
    -------
    Messages
        Texts and their topics.

    Raises
    ------
    ParameterError
        If a parameter is no whole number, or out of range.

    Examples
    --------
    >>> messages = make_messages()
    >>> messages.texts[1], messages.topics[1]
    ('I am not happy: when will the courier bring my order.', 'delivery')
    """
    check_number(n, "n", "make_messages", integer=True, minimum=1)
    check_number(seed, "seed", "make_messages", integer=True, minimum=0)
    rng = np.random.default_rng(seed)
    shares = np.zeros((n, len(TOPICS)))
    texts = []
    for row in range(n):
        first, second = rng.permutation(len(TOPICS))[:2]
        parts = [first, second] if row % 5 == 4 else [first]
        shares[row, parts] = (0.6, 0.4) if len(parts) == 2 else 1.0
        texts.append(". ".join(_sentence(TOPICS[part], rng) for part in parts) + ".")
    return Messages(texts=texts, shares=shares)


def _sentence(topic: str, rng: np.random.Generator) -> str:
    """One thing that a customer says."""
    opening, said = (str(rng.choice(text.split("|"))) for text in (_OPENINGS, _SENTENCES[topic]))
    return f"{opening}{said}" if opening else f"{said[0].upper()}{said[1:]}"
