import json

import numpy as np
import pytest
from scipy import sparse

from reproductions.data import load_newsgroups, load_newsgroups_vectorized, newsgroups
from reproductions.data.newsgroups import parse_articles, word_frequencies

# Frequencies: the 5, of 3, bat 2, cat 2, dog 2, eel 1, fox 1; the, bat and cat stand in two texts,
# the others in one.
TEXTS = [
    "The the THE: of, of of!",
    "dog cat bat dog",
    "",
    "the bat.fox? the",
    "8 a I 42 --\n",
    "Cat's eel",
]
GROUPS = ["rec.autos", "rec.pets", "rec.pets", "sci.med", "sci.med", "rec.pets"]
RANKING = ["the", "of", "bat", "cat", "dog", "eel", "fox"]


def as_lines(texts, groups) -> bytes:
    """Write texts in the format of the real file."""
    articles = [
        {"group": group, "id": 100 + i, "header": f"Newsgroups: {group}", "body": text}
        for i, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]
    lines = [json.dumps(article, ensure_ascii=False) + "\n" for article in articles]
    return "".join(lines).encode()


@pytest.fixture
def write_newsgroups(tmp_path, monkeypatch, write_data_file):
    def write(content: bytes):
        file = write_data_file(newsgroups.FILE.name, content)
        monkeypatch.setattr(newsgroups, "FILE", file)
        return tmp_path

    return write


@pytest.fixture
def newsgroups_home(write_newsgroups):
    return write_newsgroups(as_lines(TEXTS, GROUPS))


def test_bodies_and_groups(newsgroups_home):
    texts, y = load_newsgroups(data_home=newsgroups_home)
    assert texts == TEXTS
    assert y.dtype == object
    assert y.tolist() == GROUPS


def test_directory_from_the_environment(newsgroups_home, monkeypatch):
    monkeypatch.setenv("LABELFOLD_DATA", str(newsgroups_home))
    assert load_newsgroups()[0] == TEXTS
    assert load_newsgroups_vectorized(n_stop_words=2, n_words=5)[0].shape == (3, 5)


def test_plain_file(newsgroups_home):
    (newsgroups_home / newsgroups.FILE.name).unlink()
    (newsgroups_home / newsgroups.FILE.plain_name).write_bytes(as_lines(TEXTS, GROUPS))
    assert load_newsgroups(data_home=newsgroups_home)[0] == TEXTS


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\r"])
def test_separators_within_a_body_do_not_end_a_line(separator):
    texts = [f"one{separator}two", "caf\xe9"]
    parsed, _ = parse_articles(as_lines(texts, GROUPS[:2]), name="news")
    assert parsed == texts


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"group": "sci.med", "body": ', r"no JSON in line 2 \(Expecting value.*one JSON object"),
        (b"", r"no JSON in line 2 \(Expecting value"),
        (b'{"group": "sci.med", "body": "\xff"}', r"no JSON in line 2 \('utf-8' codec"),
        (b'["sci.med", 1, "", ""]', "no JSON object in line 2: expected is one JSON object a line"),
        (b'"sci.med"', "no JSON object in line 2"),
        (b'{"group": "sci.med", "id": 1, "header": ""}', "no text under 'body' in line 2"),
        (b'{"id": 1, "header": "", "body": ""}', "no text under 'group' in line 2: expected is"),
        (b'{"group": 3, "id": 1, "header": "", "body": ""}', "no text under 'group' in line 2"),
        (b'{"group": "sci.med", "body": null}', "no text under 'body' in line 2"),
    ],
)
def test_bad_line(write_newsgroups, line, message):
    good = as_lines(TEXTS[:1], GROUPS[:1])
    home = write_newsgroups(good + line + b"\n" + good)
    with pytest.raises(ValueError, match=rf"^20newsgroups-19997\.jsonl\.gz has {message}"):
        load_newsgroups(data_home=home)


def test_empty_file(write_newsgroups):
    with pytest.raises(ValueError, match="is empty: expected is one JSON object a line"):
        load_newsgroups(data_home=write_newsgroups(b""))


@pytest.mark.parametrize("load", [load_newsgroups, load_newsgroups_vectorized])
def test_missing_file_says_how_to_get_and_make_it(tmp_path, load):
    message = (
        r"20newsgroups-19997\.jsonl\.gz is not in .*original version \(Ken Lang; .*20_newsgroups"
        r".*first empty line.*one JSON object a line.*group.*id.*header.*body.*data_home"
    )
    with pytest.raises(FileNotFoundError, match=message):
        load(data_home=tmp_path)


@pytest.mark.parametrize("load", [load_newsgroups, load_newsgroups_vectorized])
def test_other_file_of_that_name_is_refused(tmp_path, write_data_file, load):
    write_data_file(newsgroups.FILE.name, as_lines(TEXTS, GROUPS))
    with pytest.raises(ValueError, match="is not the file expected"):
        load(data_home=tmp_path)


def test_frequencies_by_hand(newsgroups_home):
    X, y, vocabulary, rows = load_newsgroups_vectorized(
        n_stop_words=2, n_words=4, data_home=newsgroups_home
    )
    assert isinstance(X, sparse.csr_array)
    assert X.dtype == np.float64
    assert vocabulary.dtype == object
    assert y.dtype == object
    assert vocabulary.tolist() == ["bat", "cat", "dog", "eel"]
    # Left out: a text of stop words alone, an empty one, one without words.
    assert rows.tolist() == [1, 3, 5]
    assert y.tolist() == ["rec.pets", "sci.med", "rec.pets"]
    expected = [[0.25, 0.25, 0.5, 0], [1, 0, 0, 0], [0, 0.5, 0, 0.5]]
    np.testing.assert_array_equal(X.toarray(), expected)


def test_text_with_rarer_words_alone_is_left_out():
    X, vocabulary, rows = word_frequencies(["fox", *TEXTS], n_stop_words=2, n_words=1)
    assert vocabulary.tolist() == ["bat"]
    assert rows.tolist() == [2, 4]
    np.testing.assert_array_equal(X.toarray(), [[1], [1]])


@pytest.mark.parametrize("n_stop_words", range(6))
@pytest.mark.parametrize("n_words", [1, 2])
def test_words_are_ranked_by_frequency_then_alphabetically(n_stop_words, n_words):
    _, vocabulary, _ = word_frequencies(TEXTS, n_stop_words=n_stop_words, n_words=n_words)
    assert vocabulary.tolist() == RANKING[n_stop_words : n_stop_words + n_words]


def test_many_words_of_the_same_frequency_are_in_alphabetical_order():
    # Two frequencies in turn, so that a sort that is not stable has to move the words.
    words = [a + b for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrst"]
    text = " ".join([*words, *words[::2]][::-1])
    _, vocabulary, _ = word_frequencies([text], n_stop_words=0, n_words=400)
    assert vocabulary.tolist() == words[::2] + words[1::2]


def test_frequency_counts_each_time_a_word_stands_in_a_text():
    # "of" stands three times in one text, "bat" once in each of two.
    _, vocabulary, _ = word_frequencies(TEXTS, n_stop_words=1, n_words=2)
    assert vocabulary.tolist() == ["of", "bat"]


def test_a_word_is_a_run_of_two_or_more_letters_in_lower_case():
    text = "Don't re-read R2D2's e-mail, user_name@host1.EDU: abc123def na\xefve \xc5ngstr\xf6m I"
    _, vocabulary, _ = word_frequencies([text], n_stop_words=0, n_words=13)
    expected = "abc def don edu host mail na name ngstr re read user ve"
    assert " ".join(vocabulary) == expected


@pytest.fixture
def random_texts():
    random = np.random.default_rng(0)
    words = np.array([a + b for a in "abcdefgh" for b in "abcdefgh"])
    # Lengths from 0 on, and frequencies that fall off, so that many words tie at the low end.
    weights = 1 / np.arange(1, 65)
    return [
        " ".join(random.choice(words, size=random.integers(8), p=weights / weights.sum()))
        for _ in range(60)
    ]


def test_rows_sum_to_one_and_agree_with_counting_by_hand(random_texts):
    X, vocabulary, rows = word_frequencies(random_texts, n_stop_words=5, n_words=30)
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in random_texts])
    totals = counts.sum(axis=1)
    np.testing.assert_array_equal(rows, np.flatnonzero(totals))
    assert 0 < len(rows) < len(random_texts)
    np.testing.assert_allclose(X.toarray(), counts[rows] / totals[rows, np.newaxis], rtol=1e-15)
    np.testing.assert_allclose(X.sum(axis=1), 1, rtol=1e-15)
    assert X.has_sorted_indices
    assert np.all(X.data > 0)


def test_same_result_in_every_call_and_any_order_of_the_texts(random_texts):
    X, vocabulary, rows = word_frequencies(random_texts, n_stop_words=5, n_words=30)
    again, same_vocabulary, same_rows = word_frequencies(random_texts, n_stop_words=5, n_words=30)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(again, part), getattr(X, part))
    np.testing.assert_array_equal(same_vocabulary, vocabulary)
    np.testing.assert_array_equal(same_rows, rows)
    turned, turned_vocabulary, turned_rows = word_frequencies(
        random_texts[::-1], n_stop_words=5, n_words=30
    )
    np.testing.assert_array_equal(turned_vocabulary, vocabulary)
    np.testing.assert_array_equal(turned.toarray(), X.toarray()[::-1])
    np.testing.assert_array_equal(len(random_texts) - 1 - turned_rows[::-1], rows)


def test_all_words_can_be_counted(newsgroups_home):
    X, _, vocabulary, rows = load_newsgroups_vectorized(
        n_stop_words=0, n_words=7, data_home=newsgroups_home
    )
    assert vocabulary.tolist() == RANKING
    assert rows.tolist() == [0, 1, 3, 5]
    np.testing.assert_allclose(X.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_stop_words": -1}, "n_stop_words=-1 must be at least 0"),
        ({"n_words": 0}, "n_words=0 must be at least 1: every row needs a column"),
    ],
)
def test_bad_numbers_are_refused_before_the_file_is_read(arguments, message):
    with pytest.raises(ValueError, match=message):
        load_newsgroups_vectorized(**arguments)


def test_more_words_than_there_are(newsgroups_home):
    message = "n_stop_words=3 and n_words=5 need 8 different words, the texts have 7: lower one"
    with pytest.raises(ValueError, match=message):
        load_newsgroups_vectorized(n_stop_words=3, n_words=5, data_home=newsgroups_home)


def test_default_numbers_are_those_of_the_paper(newsgroups_home):
    with pytest.raises(ValueError, match="n_stop_words=500 and n_words=6000 need 6500 different"):
        load_newsgroups_vectorized(data_home=newsgroups_home)
