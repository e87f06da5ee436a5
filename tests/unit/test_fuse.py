from signals_of import signals_of

from pipeline.inference.fuse import fuse


def test_both_legs_together_beat_one():
    order = fuse(
        [
            signals_of(dense=0.90, bm25=0.0, coverage=0.0),
            signals_of(dense=0.89, bm25=9.0, coverage=0.9),
        ]
    )
    assert order == [1, 0]


def test_keyword_hits_that_cover_little_do_not_overturn_the_dense_order():
    dense_first = [
        signals_of(dense=0.9 - rank / 100, bm25=1.0 + rank, coverage=0.1) for rank in range(40)
    ]
    assert fuse(dense_first)[:5] == [0, 1, 2, 3, 4]


def test_what_only_the_words_find_comes_in_by_its_coverage():
    names = [signals_of(dense=0.9 - rank / 100, bm25=0.0, coverage=0.0) for rank in range(40)]
    exact = signals_of(dense=0.1, bm25=9.0, coverage=1.0)
    noise = signals_of(dense=0.1, bm25=1.0, coverage=0.05)
    order = fuse([*names, exact, noise])
    assert order.index(40) < 3
    assert order.index(41) == 41


def test_what_only_the_words_find_is_ranked_by_its_cosine_too():
    near = signals_of(dense=0.89, bm25=8.0, coverage=0.5)
    far = signals_of(dense=0.10, bm25=9.0, coverage=0.5)
    between = [signals_of(dense=0.8 - rank / 100, bm25=0.0, coverage=0.0) for rank in range(40)]
    order = fuse([far, *between, near])
    assert order[0] == 41


def test_without_a_query_vector_the_keyword_leg_keeps_its_order():
    order = fuse(
        [
            signals_of(dense=None, bm25=1.0, coverage=0.9),
            signals_of(dense=None, bm25=3.0, coverage=0.1),
            signals_of(dense=None, bm25=2.0, coverage=0.5),
        ]
    )
    assert order == [1, 2, 0]


def test_equal_candidates_keep_their_order_and_nothing_gives_nothing():
    same = [signals_of(dense=None, bm25=0.0, coverage=0.0)] * 3
    assert fuse(same) == [0, 1, 2]
    assert fuse([]) == []
