"""What to ask next, as a function of everything that was said.

Rules of this room:

- A policy learns from a table of answers and proposes questions; it asks nobody and writes nothing.
- The same answers in the same order give the same proposals, whatever happened in between: models
  are learnt from the first m answers, at milestones m, with no memory of other milestones.
- Whoever asks gets a question: a ranking goes on until everything was asked.
"""

from askmeans.policy.protocol import Policy

__all__ = ["Policy"]
