"""Whether lower values of a measure are better, as far as its name tells: WER, val_loss, median latency.

Measures that were imported are names and not formulas, so where a load declares nothing there is only the name. It is
read word by word, and the last word that tells decides: `error_detection_f1` is an F, `f1_loss` is a loss. What stands
behind `at`, `per` and the like says where or of what: `tpr_at_fpr` is a rate of true positives.
"""

from __future__ import annotations

import re


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


LOWER = _words(
    "bpb bpc brier cer cost costs crossentropy divergence ece eer error errors fallout fdr fnr fpr hter latencies",
    "latency logloss loss losses mae mape mase mse msle nll perplexities perplexity ppl regret rmse rmsle runtime",
    "smape ter wer wil",
)
"""Words of which less is better. Not among them: `err`, which may be the expected reciprocal rank, nor `per` and `der`,
which are words of languages too."""

LOWER_TOGETHER = (
    ("bits", "per"),
    ("cross", "entropy"),
    ("edit", "distance"),
    ("false", "alarm"),
    ("false", "alarms"),
    ("miss", "rate"),
)
"""Words of which less is better where they stand together."""

HIGHER = _words(
    "acc accuracy auc auroc avoidance bleu chrf correct correction correlation detected detection effective",
    "effectiveness efficiency f free gain gains improvement kappa mcc ndcg precision recall recovery reduction",
    "resistance robustness saved saving savings success tolerance",
)
"""Words that outdo a word of which less is better where they stand behind it: error_reduction."""

TURNED = _words("inverse inverted minus neg negated negative no non tokens win wins without")
"""Words with which a name does not say that less is better: neg_log_loss, win_loss, num_perplexity_tokens."""

OF_WHAT = _words("@ at by for from on over per under versus vs when with")
"""Words behind which a name says where or of what."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|@")
"""A word, also of names such as valLoss and cpWER."""

_COMPLEMENT = re.compile(r"\s*(1|one|100)\s*[-−–]\s*\D", re.IGNORECASE)
"""1 − WER."""


def lower_by_name(name: str) -> bool:
    """Whether the name of a measure tells, in any case, that lower values are better."""
    words = [word.casefold() for word in _WORD.findall(name)]
    if _COMPLEMENT.match(name) or TURNED.intersection(words):
        return False
    if "of" in words:
        # The rate of errors is an error rate.
        place = words.index("of")
        words = words[place + 1 :] + words[:place]
    lower = False
    for place, word in enumerate(words):
        if word in OF_WHAT:
            break
        if word in LOWER or tuple(words[place : place + 2]) in LOWER_TOGETHER:
            lower = True
        elif word in HIGHER:
            lower = False
    return lower
