"""Infer from the name of a measure whether lower values are better: WER, val_loss, median latency.

An imported measure has a name but no formula, so the name is the only evidence if the load does not declare a
direction. The name is read word by word, and the last word with a known direction decides: `error_detection_f1` is an
F, `f1_loss` is a loss. Words after `at`, `per` and the like only qualify the measure: `tpr_at_fpr` is a rate of true
positives.
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
"""Words for quantities where lower is better. `err` is left out because it may be the expected reciprocal rank, `per`
and `der` because they are also ordinary words of some languages.
"""

LOWER_TOGETHER = (
    ("bits", "per"),
    ("cross", "entropy"),
    ("edit", "distance"),
    ("false", "alarm"),
    ("false", "alarms"),
    ("miss", "rate"),
)
"""Pairs of words for which lower is better if one directly follows the other."""

HIGHER = _words(
    "acc accuracy auc auroc avoidance bleu chrf correct correction correlation detected detection effective",
    "effectiveness efficiency f free gain gains improvement kappa mcc ndcg precision recall recovery reduction",
    "resistance robustness saved saving savings success tolerance",
)
"""Words for which higher is better. They override an earlier word: error_reduction."""

TURNED = _words("inverse inverted minus neg negated negative no non tokens win wins without")
"""Words that reverse or cancel the meaning of the name, so that lower is not assumed to be better: neg_log_loss,
win_loss, num_perplexity_tokens.
"""

OF_WHAT = _words("@ at by for from on over per under versus vs when with")
"""Words after which a name only says where or of what the measure is taken."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|@")
"""One word of a name, also in names such as valLoss and cpWER."""

_COMPLEMENT = re.compile(r"\s*(1|one|100)\s*[-−–]\s*\D", re.IGNORECASE)
"""A complement such as 1 − WER."""


def lower_by_name(name: str) -> bool:
    """Whether the name of a measure, in any letter case, says that lower values are better."""
    words = [word.casefold() for word in _WORD.findall(name)]
    if _COMPLEMENT.match(name) or TURNED.intersection(words):
        return False
    if "of" in words:
        # "rate of errors" means the same as "error rate".
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
