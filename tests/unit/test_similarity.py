import math

import pytest
from signals_of import BACKGROUND, signals_of

from pipeline.backends.rerankers.similarity import fitted, score
from pipeline.inference.signals import Background

CROWD = [signals_of(dense=0.80 - n / 1000, sentence=0.81 - n / 1000) for n in range(12)]
ANSWER = signals_of(dense=0.90, sentence=0.93, coverage=0.9, sentence_coverage=0.8)


def test_what_stands_out_passes_and_the_crowd_does_not():
    scores = score([*CROWD, ANSWER], BACKGROUND)
    assert scores[-1] == max(scores)
    assert scores[-1] >= fitted().cut
    assert all(one < fitted().cut for one in scores[:-1])


def test_a_list_without_anything_that_stands_out_is_dropped_whole():
    assert max(score(CROWD, BACKGROUND)) < fitted().cut


def test_a_score_is_relative_to_the_background_not_a_bare_cosine():
    lifted = Background(0.90, 0.02, 0.91, 0.02, size=256)
    assert max(score([*CROWD, ANSWER], lifted)) < max(score([*CROWD, ANSWER], BACKGROUND))


def test_an_answer_in_several_chunks_does_not_hide_itself():
    assert min(score([*CROWD, ANSWER, ANSWER, ANSWER], BACKGROUND)[-3:]) >= fitted().cut


def test_across_languages_less_coverage_is_asked_for():
    shared = {"coverage": 0.1, "sentence_coverage": 0.1}
    near = signals_of(dense=0.88, sentence=0.90, known=0.95, **shared)
    foreign = signals_of(dense=0.88, sentence=0.90, known=0.3, **shared)
    assert score([foreign, *CROWD], BACKGROUND)[0] > score([near, *CROWD], BACKGROUND)[0]


def test_without_vectors_the_words_decide():
    mute = {"dense": None, "sentence": None}
    words = [signals_of(coverage=0.1, sentence_coverage=0.1, **mute) for _ in range(12)]
    hit = signals_of(coverage=0.95, sentence_coverage=0.9, **mute)
    scores = score([*words, hit], Background())
    assert scores[-1] >= fitted().cut
    assert all(one < fitted().cut for one in scores[:-1])


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
def test_a_cosine_that_is_no_number_is_as_good_as_none(strange):
    scores = score([*CROWD, signals_of(dense=strange)], BACKGROUND)
    assert all(math.isfinite(one) and 0 <= one <= 1 for one in scores)
    assert scores == score(
        [signals_of(dense=None, sentence=None, coverage=one.coverage) for one in CROWD]
        + [signals_of(dense=None, sentence=None)],
        Background(),
    )


@pytest.mark.parametrize("size", [1, 2, 5, 256])
def test_scores_are_probabilities_for_any_number_of_candidates(size):
    for count in (1, 2, 5, 20):
        scores = score([ANSWER] * count, Background(0.8, 0.001, 0.8, 0.001, size=size))
        assert len(scores) == count
        assert all(isinstance(one, float) and 0 <= one <= 1 for one in scores)


def test_a_lone_chunk_is_found_for_a_question_it_answers_and_only_for_that():
    alone = Background(0.88, 0.001, 0.88, 0.005, size=1)
    assert score([ANSWER], alone)[0] >= fitted().cut
    stranger = Background(0.78, 0.001, 0.78, 0.005, size=1)
    unlike = signals_of(dense=0.78, sentence=0.79, coverage=0.1, sentence_coverage=0.1, known=0.2)
    assert score([unlike], stranger)[0] < fitted().cut


def test_no_candidates_no_scores():
    assert score([], BACKGROUND) == []
