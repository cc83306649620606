"""Generated messages to a shop in four to eight topics; some have two."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.exceptions import ParameterError

# Every sentence can follow every opening.
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
    "stock": "when will the blue bicycle be available again|is the tent still in stock|the size "
    "that I need is sold out|do you still have the green curtains|will you get more of these "
    "mugs|is the bookshelf available in oak|the sofa is always sold out|please reserve the last "
    "tent for me",
    "advice": "which paint is right for a bathroom|does this lens fit my camera|can I wash the "
    "blanket at sixty degrees|which mattress do you recommend for a bad back|is the saw suitable"
    " for beginners|how many tiles do I need for ten square metres|which batteries does the "
    "torch need|is this cream suitable for children",
    "praise": "thank you for the friendly staff|I am delighted with the service|you have made my"
    " daughter very happy|great quality, I will recommend you|the best shop that I know|thanks "
    "for the quick and kind help|everything was perfect as always|five stars for your team",
    "stores": "when does the shop in the city open|is there parking near your store|are you open"
    " on Sunday|where is the nearest branch|the lift in the store is broken|which floor has the "
    "toys|is the store closed on holidays|can I bring my dog into the shop",
}
_MOST = tuple(_SENTENCES)
TOPICS = _MOST[:4]
_SHARES = ((0.6, 0.4), (0.7, 0.3), (0.55, 0.45))  # of two topics in turn; one is the main topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Texts and their shares of the topics.

    Parameters
    ----------
    texts : list of str
        The messages.
    shares : ndarray of shape (n_messages, n_topics)
        Shares of the topics.
    names : tuple of str, default=("delivery", "payment", "returns", "account")
        The topics.
    """

    texts: list[str]
    shares: NDArray[np.float64]
    names: tuple[str, ...] = TOPICS

    @property
    def topics(self) -> list[str]:
        """The main topic of each message."""
        return [self.names[number] for number in self.shares.argmax(axis=1)]


def make_messages(
    n: int = 160, seed: int = 0, *, n_topics: int = 4, mixed: float = 0.2
) -> Messages:
    """Make the messages of `askmeans demo --data`: to a shop, some of two topics.

    Parameters
    ----------
    n : int, default=160
        Number of messages.
    seed : int, default=0
        Seed of the random generator.
    n_topics : int, default=4
        Number of topics, from 2 to 8.
    mixed : float, default=0.2
        The share of messages with two topics: .6 and .4, .7 and .3, or .55 and .45.

    Returns
    -------
    Messages
        Texts and their topics.

    Examples
    --------
    >>> messages = make_messages()
    >>> messages.texts[1], messages.topics[1]
    ('I am not happy: when will the courier bring my order.', 'delivery')
    >>> messages.texts[4][-25:]
    'le, I want my money back.'
    >>> messages.shares[4].tolist()
    [0.0, 0.6, 0.4, 0.0]
    """
    check_number(n, "n", "make_messages", integer=True, minimum=1)
    check_number(seed, "seed", "make_messages", integer=True, minimum=0)
    check_number(n_topics, "n_topics", "make_messages", integer=True, minimum=2)
    check_number(mixed, "mixed", "make_messages")
    if n_topics > len(_MOST):
        raise ParameterError(
            f"The 'n_topics' parameter of make_messages must be at most {len(_MOST)}. "
            f"Got {n_topics} instead."
        )
    if mixed > 1.0:
        raise ParameterError(
            f"The 'mixed' parameter of make_messages must be at most 1. Got {mixed} instead."
        )
    rng = np.random.default_rng(seed)
    names = _MOST[:n_topics]
    shares = np.zeros((n, n_topics))
    texts = []
    n_mixed = 0
    for row in range(n):
        first, second = rng.permutation(n_topics)[:2]
        two = round((row + 1) * mixed, 9) >= n_mixed + 1
        parts = [first, second] if two else [first]
        shares[row, parts] = _SHARES[n_mixed % len(_SHARES)] if two else 1.0
        n_mixed += two
        texts.append(". ".join(_sentence(names[part], rng) for part in parts) + ".")
    return Messages(texts=texts, shares=shares, names=names)


def _sentence(topic: str, rng: np.random.Generator) -> str:
    """A sentence about a topic, with an opening."""
    texts = _OPENINGS, _SENTENCES[topic]
    opening, sentence = (str(rng.choice(text.split("|"))) for text in texts)
    return f"{opening}{sentence}" if opening else f"{sentence[0].upper()}{sentence[1:]}"
