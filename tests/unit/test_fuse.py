from signals_of import signals_of

from pipeline.inference.fuse import fuse


def test_both_legs_together_beat_one():
    order = fuse(
        [
            signals_of(dense_rank=1, keyword_rank=None, coverage=0.0),
            signals_of(dense_rank=2, keyword_rank=0, coverage=0.9),
        ]
    )
    assert order == [1, 0]


def test_a_keyword_hit_that_covers_little_does_not_overturn_the_dense_order():
    dense_first = [
        signals_of(dense_rank=rank, keyword_rank=39 - rank, coverage=0.1) for rank in range(40)
    ]
    assert fuse(dense_first)[0] == 0
    assert fuse(dense_first)[:5] == [0, 1, 2, 3, 4]


def test_a_chunk_that_only_the_words_find_comes_in_by_its_coverage():
    names = [signals_of(dense_rank=rank, keyword_rank=None, coverage=0.0) for rank in range(40)]
    exact = signals_of(dense_rank=None, keyword_rank=0, coverage=1.0)
    noise = signals_of(dense_rank=None, keyword_rank=1, coverage=0.05)
    order = fuse([*names, exact, noise])
    assert order.index(40) < 3
    assert order.index(41) == 41


def test_without_a_query_vector_the_keyword_leg_keeps_its_order():
    order = fuse(
        [
            signals_of(dense_rank=None, keyword_rank=2, coverage=0.9),
            signals_of(dense_rank=None, keyword_rank=0, coverage=0.1),
            signals_of(dense_rank=None, keyword_rank=1, coverage=0.5),
        ]
    )
    assert order == [1, 2, 0]


def test_equal_candidates_keep_their_order_and_nothing_gives_nothing():
    same = [signals_of(dense_rank=None, keyword_rank=None, coverage=0.0)] * 3
    assert fuse(same) == [0, 1, 2]
    assert fuse([]) == []
