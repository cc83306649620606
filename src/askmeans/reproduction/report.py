"""The report: what was run, every figure explained, and the claims with their verdicts."""

import html
from dataclasses import dataclass
from pathlib import Path

from askmeans.reproduction.claims import HOLDS, Claim
from askmeans.reproduction.figures import FigureSpec
from askmeans.reproduction.our_order import HEADS, Worse
from askmeans.reproduction.scale import Scale

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
        parts = [f"# {_TITLE}", _INTRODUCTION, self.summary]
        parts.append("\n".join(f"- {text}" for text in _SETTINGS))
        for figure in self.figures:
            parts += [
                f"## {figure.title}",
                f"![{figure.title}]({figure.name}.png)",
                f"{figure.caption} [Table]({figure.name}.csv).",
            ]
        parts.append("## Where our order is worse")
        if self.worse:
            lines = [_row(HEADS), "|" + "---|" * len(HEADS), *(_row(w.row) for w in self.worse)]
            parts += [_WORSE, "\n".join(lines)]
        else:
            parts.append(_NOT_WORSE)
        rows = [
            "| claim | where | test | estimate | 95 % interval | verdict |",
            "|---|---|---|---|---|---|",
        ]
        for claim in self.claims:
            verdict = claim.verdict if claim.verdict == HOLDS else f"**{claim.verdict}**"
            rows.append(
                f"| {claim.claim} | {claim.where} | {claim.test} | {claim.estimate:.3g} "
                f"| {claim.low:.3g} to {claim.high:.3g} | {verdict} |"
            )
        parts += ["## Claims", _CLAIMS, "\n".join(rows)]
        return "\n\n".join(parts) + "\n"

    def html(self) -> str:
        """The same as a page, with the figures as vector graphics beside it."""
        body = [f"<h1>{_TITLE}</h1>", _paragraph(_INTRODUCTION), _paragraph(self.summary)]
        body.append("<ul>" + "".join(f"<li>{_inline(text)}</li>" for text in _SETTINGS) + "</ul>")
        for figure in self.figures:
            body += [
                f"<h2>{html.escape(figure.title)}</h2>",
                f'<img src="{figure.name}.svg" alt="{html.escape(figure.title)}">',
                f'<p>{html.escape(figure.caption)} <a href="{figure.name}.csv">Table</a>.</p>',
            ]
        body.append("<h2>Where our order is worse</h2>")
        if self.worse:
            body += [_paragraph(_WORSE), "<table>", _html_row(HEADS, "th")]
            body += [_html_row(worse.row, "td") for worse in self.worse]
            body.append("</table>")
        else:
            body.append(_paragraph(_NOT_WORSE))
        body += ["<h2>Claims</h2>", _paragraph(_CLAIMS), "<table>"]
        heads = ("claim", "where", "test", "estimate", "95 % interval", "verdict")
        body.append(_html_row(heads, "th"))
        for claim in self.claims:
            cells = (claim.claim, claim.where, claim.test, f"{claim.estimate:.3g}",
                     f"{claim.low:.3g} to {claim.high:.3g}", claim.verdict)  # fmt: skip
            kind = "holds" if claim.verdict == HOLDS else "fails"
            body.append(_html_row(cells, "td", f' class="{kind}"'))
        body.append("</table>")
        return _PAGE.format(title=_TITLE, body="\n".join(body))


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


def _row(cells: tuple[str, ...]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def _html_row(cells: tuple[str, ...], tag: str, attributes: str = "") -> str:
    """A row of a table in HTML."""
    row = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{attributes}>{row}</tr>"


def _paragraph(text: str) -> str:
    """A paragraph of HTML."""
    return f"<p>{_inline(text)}</p>"


def _inline(text: str) -> str:
    """Text with *emphasis* as HTML."""
    parts = html.escape(text).split("*")
    return "".join(f"<em>{part}</em>" if i % 2 else part for i, part in enumerate(parts))
