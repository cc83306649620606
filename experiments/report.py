"""The report: what was run, every figure explained, and the claims with their verdicts."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.claims import FAILS, HOLDS, Claim
from experiments.figures import FigureSpec
from experiments.our_order import HEADS, Worse
from experiments.scale import Scale

__all__ = ["Report"]

_TITLE = "The paper's experiments, run again"
_INTRODUCTION = (
    "askmeans runs section 4 of *Fuzzy Clustering with Similarity Queries* from scratch. Bands are "
    "95 % confidence intervals of the mean over runs. Every figure has a table beside it (CSV) "
    "with means, intervals and the measured number of questions, different ones and raw."
)
_SETTINGS = (
    "*Faithful* is the paper's listing, with its slips mended. *Our order* ranks items by "
    "closed-form membership from all centres, and does not ask what follows from the rest of a "
    "row.",
    "The paper gives no r for its synthetic data. *The paper's setting* has r = 0.1 m there, as "
    "the paper's r = m / eta_1 for real data is surely meant. *Equal questions* has sizes, found "
    "by trying, with which the runs of every algorithm ask on average as many different questions "
    "as those of the faithful two-phase one, to a few per cent.",
    "The paper's synthetic target is the fuzzy k-means optimum of the very data that the "
    "algorithms see. A fit that asks nothing finds it, but for a bad start now and then from k = 5 "
    "on: mind the line *no questions*.",
    "The paper says that fuzzy k-means reaches 31.33, 35.96 and 14.58 % on Iris, Wine and Breast "
    "Cancer. Those are shares of items whose cluster's *number* equals that of their class, under "
    "one unlucky numbering. With clusters matched to classes the same fits reach 89.33, 68.54 and "
    "85.41 %.",
)
_CLAIMS = (
    "Each sentence that can be checked, with the test applied to it. A claim holds if the whole "
    "95 % interval lies where the test says; otherwise it does not, whether the opposite is true "
    "or the runs cannot tell. Intervals are not corrected for their number."
)
_WORSE = (
    "Every point at which our order is worse than the faithful algorithm of the same sizes by more "
    "than chance (their 95 % intervals do not meet): accuracies or errors, and different questions "
    "asked."
)
_NOT_WORSE = "Our order is nowhere worse than the faithful algorithms by more than chance."


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the two documents say."""

    scale: Scale
    seed: int
    figures: tuple[FigureSpec, ...]
    claims: list[Claim]
    worse: list[Worse]

    def write(self, folder: Path) -> None:
        """Write `report.md` and `report.html`."""
        (folder / "report.md").write_text(self.markdown())
        (folder / "report.html").write_text(self.html())

    @property
    def summary(self) -> str:
        """What was run, and how many claims hold."""
        holding = sum(claim.verdict == HOLDS for claim in self.claims)
        scale = self.scale
        quick = "" if scale.name == "full" else f" This is a {scale.name} look, not the full run."
        return (
            f"Seed {self.seed}; {scale.synthetic_runs} runs a point on synthetic data, "
            f"{scale.real_runs} on real data, {scale.beyond_runs} beyond the paper, "
            f"{scale.stratified_runs} with stratified questions everywhere.{quick} "
            f"{holding} of {len(self.claims)} checks hold."
        )

    def markdown(self) -> str:
        """The report in Markdown."""
        return "\n\n".join(_markdown(kind, what) for kind, what in self._blocks()) + "\n"

    def html(self) -> str:
        """The same as a page, with the figures as vector graphics beside it."""
        body = "\n".join(_html(kind, what) for kind, what in self._blocks())
        return _PAGE.format(title=_TITLE, body=body)

    def _blocks(self) -> Iterator[tuple[str, Any]]:
        """What both documents have, from the top: headings, paragraphs, figures, tables."""
        yield "h1", _TITLE
        yield "p", _INTRODUCTION
        yield "p", self.summary
        yield "list", _SETTINGS
        for figure in self.figures:
            yield "h2", figure.title
            yield "figure", figure
        yield "h2", "Where our order is worse"
        yield "p", _WORSE if self.worse else _NOT_WORSE
        if self.worse:
            yield "table", [HEADS, *(worse.row for worse in self.worse)]
        yield "h2", "Claims"
        yield "p", _CLAIMS
        rows = [
            (claim.claim, claim.where, claim.test, f"{claim.estimate:.3g}",
             f"{claim.low:.3g} to {claim.high:.3g}", claim.verdict)
            for claim in self.claims
        ]  # fmt: skip
        yield "table", [("claim", "where", "test", "estimate", "95 % interval", "verdict"), *rows]


def _markdown(kind: str, what: Any) -> str:
    """A block in Markdown; a claim that fails in bold."""
    if kind == "list":
        return "\n".join(f"- {text}" for text in what)
    if kind == "figure":
        caption = f"{what.caption} [Table]({what.name}.csv)."
        return f"![{what.title}]({what.name}.png)\n\n{caption}"
    if kind == "table":
        lines = [f"| {' | '.join(row)} |".replace(f" {FAILS} |", f" **{FAILS}** |") for row in what]
        return "\n".join([lines[0], "|" + "---|" * len(what[0]), *lines[1:]])
    return {"h1": "# ", "h2": "## "}.get(kind, "") + str(what)


def _html(kind: str, what: Any) -> str:
    """A block in HTML; whether a claim holds is its row's class."""
    if kind == "list":
        return f"<ul>{''.join(f'<li>{_inline(text)}</li>' for text in what)}</ul>"
    if kind == "figure":
        return (
            f'<img src="{what.name}.svg" alt="{html.escape(what.title)}">\n'
            f'<p>{html.escape(what.caption)} <a href="{what.name}.csv">Table</a>.</p>'
        )
    if kind == "table":
        heads, *rows = what
        lines = [f"<tr>{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr>"]
        for row in rows:
            of = {HOLDS: ' class="holds"', FAILS: ' class="fails"'}.get(row[-1], "")
            lines.append(f"<tr{of}>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>")
        return "\n".join(["<table>", *lines, "</table>"])
    return f"<{kind}>{_inline(what)}</{kind}>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; }}
img {{ max-width: 100%; }}
table {{ border-collapse: collapse; font-size: 14px; }}
td, th {{ border: 1px solid #ccc; padding: .3rem .5rem; text-align: left; vertical-align: top; }}
tr.fails td:last-child {{ background: #fbd9d3; font-weight: bold; }}
tr.holds td:last-child {{ background: #d8f0dd; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def _inline(text: str) -> str:
    """Text with *emphasis* as HTML."""
    parts = html.escape(text).split("*")
    return "".join(f"<em>{part}</em>" if i % 2 else part for i, part in enumerate(parts))
