"""What the name of an imported measure implies about its direction, and similar names that do not."""

from __future__ import annotations

import pytest

from evalhouse.warehouse.measures.measure import lower_by_name

LOWER = """
WER TER CER wer ter perplexity Perplexity PPL ppl loss latency cost error errors MAE RMSE nRMSE mse log_loss NLL brier
val_loss valLoss loss_val eval/loss test.loss loss@100 train-loss f1_loss error_rate errorRate wordErrorRate cpWER
WER-clean wer_on_clean word_perplexity latency_p95 latencyMs cost_usd brier_score mean_absolute_error fallout
cross_entropy bits_per_byte edit_distance_chars loss_at_0.5 cost_per_item ece_10_bin equal_error_rate error_count
detection_error accuracy_error miss_rate rate_of_errors error·rate word·error·rate Mean·Squared·Error bits·per·byte
share·of·errors
"""

HIGHER = """
accuracy BLEU chrF F1 recall map P@10 ndcg_cut_10 ERR ERR@20 err err_ia lossless flossing terror cost-effectiveness
cost_efficiency costEffective error_reduction loss_reduction error_detection_f1 error_correction_rate error_free_rate
tpr_at_fpr recall@error5 accuracy_at_low_cost accuracy_per_cost neg_log_loss neg_mean_squared_error negative_loss
1-WER win_loss win_loss_ratio num_perplexity_tokens per persona tokens_per_second winner closeness latent terms
pearson Genauigkeit_der_Antworten reduction_of_error inverse_cost costume lossy müde percent_correct score 1·-·WER
1·−·CER One-WER without·errors … 42 ·
"""


def names(text: str) -> list[str]:
    """The names in a text; a point in the middle of a line stands for a blank."""
    return [name.replace("·", " ") for name in text.split()]


@pytest.mark.parametrize("name", names(LOWER))
def test_a_name_tells_that_lower_is_better(name: str) -> None:
    assert lower_by_name(name)


@pytest.mark.parametrize("name", names(HIGHER))
def test_a_name_does_not_tell_that_lower_is_better(name: str) -> None:
    assert not lower_by_name(name)
