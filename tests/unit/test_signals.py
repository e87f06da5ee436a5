import numpy as np
import pytest

from pipeline.inference.signals import background, best_coverage, coverage, known


def test_coverage_is_the_share_of_the_weight():
    weights = {"prazo": 3.0, "de": 0.5, "resgate": 1.5}
    assert coverage(weights, {"prazo", "de", "outra"}) == pytest.approx(0.7)
    assert coverage(weights, set()) == 0
    assert coverage({}, {"prazo"}) == 0


def test_best_coverage_is_of_one_sentence_not_of_all_together():
    weights = {"a": 1.0, "b": 1.0, "c": 2.0}
    assert best_coverage(weights, [["a", "b"], ["c", "c"]]) == pytest.approx(0.5)
    assert best_coverage(weights, []) == 0


def test_known_counts_words_and_not_their_beginnings():
    terms = ["bloqueio", "~bloq", "xyzzy"]
    assert known(terms, {"bloqueio": 2, "~bloq": 3}) == pytest.approx(0.5)
    assert known([], {}) == 0


def test_the_chunk_that_answers_is_not_its_own_background():
    crowd = np.linspace(0.78, 0.82, 20, dtype=np.float32)
    alone = background(crowd, crowd)
    with_answer = background(np.append(crowd, np.float32(0.95)), crowd)
    assert with_answer.dense_mean == pytest.approx(alone.dense_mean, abs=0.003)
    assert with_answer.size == 21


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tiny_sample_gives_finite_numbers(size):
    found = background(np.full(size, 0.8, np.float32), np.full(size, 0.8, np.float32))
    assert found.dense_mean == pytest.approx(0.8)
    assert found.dense_deviation > 0
    assert found.size == size


def test_no_sample_is_no_background():
    assert background(np.empty(0, np.float32), np.empty(0, np.float32)).size == 0
