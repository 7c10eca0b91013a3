"""The lint of words finds every entry of tools/words.txt, phrases and parts of names too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("codespell_lib")

ROOT = Path(__file__).parents[1]
ENTRIES = (ROOT / "tools" / "words.txt").read_text(encoding="utf-8").splitlines()
WORDS = [entry.partition("->")[0] for entry in ENTRIES]


def find_words(path, text):
    """Return the numbers of the lines in which the lint finds a word."""
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", str(path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [int(number) for number in re.findall(r":(\d+): ", result.stdout)]


def test_every_word_is_found(tmp_path):
    found = find_words(tmp_path / "page.md", "".join(f"It {word} good.\n" for word in WORDS))
    assert [WORDS[line - 1] for line in found] == WORDS


def test_british_spelling_is_found_in_names_and_text(tmp_path):
    text = "n_neighbours = 2\nNeighbourGraph\n# colour\n"  # codespell:ignore
    assert find_words(tmp_path / "a.py", text) == [1, 2, 3]


def test_plain_text_passes(tmp_path):
    text = "There is no label for every row; it is no longer new.\nwriteable\ndo it without them\n"
    assert find_words(tmp_path / "page.md", text) == []


def test_words_are_sorted():
    assert sorted(WORDS) == WORDS
