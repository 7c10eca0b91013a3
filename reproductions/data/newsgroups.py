"""20 Newsgroups: from articles, one JSON object per line, to texts and word frequencies.

The word frequencies follow Belkin and Niyogi: with c(d, w) the number of times that word w of the
vocabulary occurs in article d, x(d, w) = c(d, w) / sum over v of c(d, v).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from reproductions.data.files import DataFile

IntArray = NDArray[np.int64]
StringArray = NDArray[np.object_]

FILE = DataFile(
    name="20newsgroups-19997.jsonl",
    sha256="6dee68ee2a375c3e5bf0b5837920340c56e2dd667eb7814372dc6dee3392aac3",
    origin=(
        "Get 20 Newsgroups in its original version (Ken Lang; the directory 20_newsgroups of "
        "19,997 articles), read the articles as Latin-1, split each at its first empty line into "
        "header and body, and write them sorted by group and id, one JSON object per line, "
        '{"group": ..., "id": ..., "header": ..., "body": ...}, where id is the number of the '
        "article as an integer, with Python's json.dumps(article, ensure_ascii=False) in UTF-8."
    ),
)
# What the Rainbow toolkit, which the paper used, takes for a word unless told otherwise.
WORD = r"[a-z]{2,}"


def load_newsgroups(
    *, data_home: str | os.PathLike[str] | None = None
) -> tuple[list[str], StringArray]:
    """Load the articles of 20 Newsgroups in its original version, without their headers.

    Returned are the bodies of the 19,997 articles, sorted by group and number, 41 of them blank,
    and their newsgroups as strings (dtype object). An article posted to several groups is in each
    of them, with a different label: the articles have 19,334 different bodies.
    """
    # Split as bytes: the lines of a str also end at separators that may stand inside a JSON string.
    articles = [json.loads(line) for line in FILE.read(data_home).splitlines()]
    groups = np.array([article["group"] for article in articles], dtype=object)
    return [article["body"] for article in articles], groups


def load_newsgroups_vectorized(
    *, n_stop_words: int = 500, n_words: int = 6000, data_home: str | os.PathLike[str] | None = None
) -> tuple[sp.csr_array, StringArray, StringArray, IntArray]:
    """Load 20 Newsgroups as word frequencies, as in section 5.2 of Belkin and Niyogi, 2002.

    The `n_stop_words` most frequent words are left out and the next `n_words` counted. The counts
    of an article are divided by their sum, and articles without any of these words are left out.
    Returned are the frequencies, whose rows sum to 1 (19,927 rows with the default numbers), the
    newsgroup of each row, the words that the columns count, the most frequent first, and the row
    numbers of the remaining articles in `load_newsgroups`, ascending.

    A word is a run of at least two of the letters a to z in the text in lower case. The frequency
    of a word is how often it occurs in all texts together; words of the same frequency are ranked
    alphabetically.

    Deviation: the paper reports 19,935 articles, with a "stop-list of 500 most common words" that
    it does not print. Ranking words by the number of articles that hold them instead leaves 19,930
    articles and shares 5,303 of the 6,000 words. Words that separate groups, such as "god" and
    "windows", are among the 500 most frequent either way.
    """
    texts, groups = load_newsgroups(data_home=data_home)
    X, vocabulary, rows = word_frequencies(texts, n_stop_words=n_stop_words, n_words=n_words)
    return X, groups[rows], vocabulary, rows


def word_frequencies(
    texts: Sequence[str], *, n_stop_words: int, n_words: int
) -> tuple[sp.csr_array, StringArray, IntArray]:
    """Return X, vocabulary and rows of `load_newsgroups_vectorized`."""
    vectorizer = CountVectorizer(token_pattern=WORD)
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    words = vectorizer.get_feature_names_out()
    # CountVectorizer's words are in alphabetical order, which a stable sort keeps among equals.
    ranking = np.argsort(-counts.sum(axis=0), kind="stable")
    chosen = ranking[n_stop_words : n_stop_words + n_words]
    counts = counts[:, chosen]
    rows = np.flatnonzero(counts.sum(axis=1))
    X = sp.csr_array(normalize(counts[rows].astype(np.float64), norm="l1"))
    X.sort_indices()
    return X, words[chosen], rows
