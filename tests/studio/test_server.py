"""The server: what it answers, to whom, and that nothing a request holds makes it fail."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import string

import pytest
from served import PNG, serving

from labelfold.studio.journal import Mark, NotSavedError, read_events

N_REQUESTS = int(os.environ.get("LABELFOLD_REQUESTS", "400"))
SEED = int(os.environ.get("LABELFOLD_SEED", "0"))
PATHS = [
    "studio.js",
    "viewer.js",
    "viewer.css",
    "api/state",
    "api/map",
    "api/map?details=1",
    "api/queue",
    "api/suspects",
    "api/search?text=name",
    "api/image/0",
    "api/image/1",
    "api/export/labels.csv",
    "api/export/repeat.py",
]
PATHS.append("")  # the page
POSTS = ["api/label", "api/undo", "api/redo", "api/freeze", "api/cards"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served"), learns=False) as (client, session):
        yield client, session


@pytest.fixture
def client(served):
    return served[0]


def test_labels_are_on_disk_when_the_answer_comes(client, served):
    session = served[1]
    before = session.labeling.number
    state = client.get("api/label", {"rows": [0, 2], "label": " cat ", "source": "map"})
    assert (state["event"], state["nLabels"]) == (before + 1, 2)
    *_, last = read_events(session.journal.path)
    assert (last.rows, last.label, last.source) == (("row 0", "row 2"), "cat", "map")
    card = client.get("api/cards", {"rows": [2]})[0]
    assert (card["id"], card["texts"], card["label"]) == ("row 2", ["name 2 <b>é</b>"], "cat")
    client.get("api/label", {"rows": [2], "action": "aside"})
    assert client.get("api/cards", {"rows": [2]})[0]["source"] == "aside"
    assert client.get("api/undo", {})["redo"] == "set 1 row aside"
    assert client.get("api/redo", {})["nAside"] == 1
    assert client.get("api/label", {"rows": [0, 2], "action": "remove"})["nLabels"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"rows": [], "label": "cat"},
        {"rows": [90], "label": "cat"},
        {"rows": [-1], "label": "cat"},
        {"rows": [True], "label": "cat"},
        {"rows": [1.0], "label": "cat"},
        {"rows": "1", "label": "cat"},
        {"rows": [1], "label": ""},
        {"rows": [1], "label": "NA"},
        {"rows": [1], "label": "-1"},
        {"rows": [1], "label": "two\nlines"},
        {"rows": [1], "label": 3},
        {"rows": [1], "label": "x" * 201},
        {"rows": [1], "label": "cat", "source": "file"},
        {"rows": [1], "label": "cat", "action": "undo"},
        {"rows": [1], "label": "cat", "action": ["label"]},
        [],
        b"{",
        b"[" * 100_000,
    ],
    ids=lambda body: str(body)[:40],
)
def test_wrong_requests_change_nothing(client, served, body):
    before = served[1].labeling.number
    status, _, content = client.ask("api/label", body)
    assert (status, served[1].labeling.number) == (400, before)
    assert json.loads(content)["error"]


def test_search_finds_texts_ids_and_labels(client):
    find = lambda text: list(client.ask(f"api/search?text={text}")[2]).index(1)  # noqa: E731
    assert find("NAME%20%207%20") == 7
    assert find("row%2012") == 12
    client.get("api/label", {"rows": [5], "label": "Bärbel"})
    assert find("barbel") == 5
    client.get("api/undo", {})
    assert client.ask(f"api/search?text={'x' * 1001}")[0] == 400


def test_images_only_of_rows_that_have_one(client):
    status, headers, content = client.ask("api/image/0")
    assert (status, headers["content-type"], content) == (200, "image/png", PNG)
    assert [client.ask(f"api/image/{row}")[0] for row in ("1", "90", "-1", "x")] == [404] * 4


def test_headers_of_every_answer(client):
    for path in ("", "api/state", "nothing", "api/image/0"):
        headers = client.ask(path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "eval" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("base", "headers"),
    [
        ("/", {}),
        ("/wrong/", {}),
        ("/%C3%A9/", {}),
        ("//", {}),
        (None, {"Host": "evil.example"}),
        (None, {"Host": "127.0.0.1"}),
        (None, {"Host": ""}),
        (None, {"Origin": "http://evil.example"}),
        (None, {"Origin": "null"}),
        (None, {"Sec-Fetch-Site": "cross-site"}),
        (None, {"Sec-Fetch-Site": "same-site"}),
    ],
)
def test_only_pages_of_this_server_with_the_token_get_an_answer(client, base, headers):
    for path in PATHS:
        status, _, content = client.ask(path, base=base, headers=headers)
        assert status == 403, (path, content)
        assert set(json.loads(content)) == {"error"}
    for path in POSTS:
        assert client.ask(path, {"rows": [1], "label": "x"}, base=base, headers=headers)[0] == 403


def test_own_pages_are_answered(client):
    origin = {"Origin": f"http://{client.host}", "Sec-Fetch-Site": "same-origin"}
    assert client.ask("api/state", headers=origin)[0] == 200
    local = client.host.replace("127.0.0.1", "localhost")
    assert client.ask("api/state", headers={"Host": local})[0] == 200


def test_large_bodies_are_refused(client):
    assert client.ask("api/cards", b" " * 8_000_001)[0] == 413
    host, port = client.host.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(
            f"POST {client.base}api/cards HTTP/1.1\r\nHost: {client.host}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        for _ in range(9):
            connection.sendall(b"f4240\r\n" + b" " * 1_000_000 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_a_full_disk_makes_the_page_read_only_until_there_is_room(client, served, monkeypatch):
    session = served[1]
    before = dict(session.labeling.marks)

    def fail(*arguments, **more):
        raise NotSavedError("Not saved: the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(session.journal, "append", fail)
        status, _, content = client.ask("api/label", {"rows": [3], "label": "cat"})
        assert (status, json.loads(content)["error"]) == (507, "Not saved: the disk is full.")
        assert client.get("api/state")["notSaved"] == "Not saved: the disk is full."
    assert session.labeling.marks == before
    assert client.get("api/label", {"rows": [3], "label": "cat"})["notSaved"] == ""
    client.get("api/undo", {})


def test_changes_are_streamed_to_all_pages(client):
    host, port = client.host.split(":")
    streams = []
    for _ in range(2):
        connection = socket.create_connection((host, int(port)), timeout=20)
        connection.sendall(
            f"GET {client.base}api/changes HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode()
        )
        streams.append(connection.makefile("rb"))
        connection.close()  # the stream keeps it open

    def next_state(stream):
        while not (line := stream.readline()).startswith(b"data: "):
            assert line
        return json.loads(line[6:])

    first = [next_state(stream)["event"] for stream in streams]
    client.get("api/label", {"rows": [4], "label": "dog"})
    for stream, before in zip(streams, first, strict=True):
        assert next_state(stream)["event"] == before + 1
        stream.close()
    client.get("api/undo", {})


def test_fuzzed_requests_never_fail_and_give_nothing_away(served, caplog):
    """Wrong token, Host, Origin, method, path and body, in any combination."""
    client, session = served
    rng = random.Random(SEED)
    secrets = [b"name 7", b"row 7", b"nRows", b"import "]  # of rows, state and scripts
    refused = answered = 0
    for number in range(N_REQUESTS):
        method, target, headers, body, is_entitled = fuzzed(rng, client)
        status, content = send_raw(client, method, target, headers, body)
        assert status < 500, (status, number, method, target, headers, body[:100])
        if not is_entitled:
            assert status in (400, 403), (status, method, target, headers)
            assert not any(secret in content for secret in secrets)
            refused += 1
        else:
            answered += status == 200
    print(
        f"{N_REQUESTS:,} requests, seed {SEED}: {refused:,} refused, {answered:,} with status 200"
    )
    assert refused > N_REQUESTS / 4
    assert answered > N_REQUESTS / 80
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []
    assert client.get("api/state")["nRows"] == session.n_rows


ODD_PATHS = ["..%2f" * 9 + "etc/passwd", "....//" * 5, "%00", "\\..\\..\\", "api/image/9" * 50]
ODD_PATHS += ["api/export/model", "../", "%2e%2e/%2e%2e/etc/passwd", "a.js", "%ff.js", "²³.js"]
BODIES = [b"", b"{}", b"[]", b"null", b"{", b"\xff\xfe", b'{"rows":[0],"label":"x"}', b"9" * 5000]
BODIES += [b'{"rows":[1e400]}', b'{"rows":[NaN],"label":"\\ud800"}', b'{"rows":{},"label":[]}']
BODIES += [b"[" * 5000, b'{"isFrozen":1}', b'{"rows":[0],"label":"y","source":{}}']
BODIES += [
    b'{"rows":[' + b"1," * 5000 + b'1],"label":"\\u0000"}',
    b'{"rows":[0],"label":"\\udc00"}',
]
METHODS = ["GET"] * 4 + ["POST"] * 4 + ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "X"]


def fuzzed(rng, client):
    """Return a request, and whether its sender may see data."""
    own = "http://" + client.host
    path = rng.choice([*PATHS, *POSTS, *ODD_PATHS])
    if rng.random() < 0.2:
        path += "".join(rng.choices(string.printable.strip() + "é\x00\x7f%", k=rng.randint(1, 30)))
    wrong = ["/", "/" + "x" * 32 + "/", client.base[:-2] + "/", "/é/", "//"]
    token = rng.choice([client.base] * 12 + wrong)
    foreign = ["evil.example", client.host + ".evil.example", "", "[", "a" * 5000]
    host = rng.choice([client.host] * 12 + foreign)
    origin = rng.choice([None] * 8 + [own, "null", "http://evil.example", "\xff"])
    body = rng.choice([*BODIES, rng.randbytes(200)])
    if rng.random() < 0.005:
        body = b" " * 8_000_001 + body
    headers = [("Host", host)] + ([("Origin", origin)] if origin is not None else [])
    if rng.random() < 0.1:
        more = [("Host", "second"), ("Content-Type", "\xff" * 50), ("X" * 900, "y")]
        headers.append(rng.choice(more))
    length = rng.choice([len(body)] * 20 + [-1, 99_999_999_999, "x", 0, len(body) + 9])
    headers.append(("Content-Length", str(length)))
    hosts = [value for name, value in headers if name == "Host"]
    is_entitled = token == client.base and hosts == [client.host] and origin in (None, own)
    return rng.choice(METHODS), token + path, headers, body, is_entitled


def send_raw(client, method, target, headers, body):
    """Send bytes as they are; a connection that is closed without an answer has status 400."""
    host, port = client.host.split(":")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    content = b""
    head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace")
    connected = socket.create_connection((host, int(port)), timeout=60)
    with connected as connection, contextlib.suppress(ConnectionError):
        connection.sendall(head + body)
        if ("Content-Length", str(len(body) + 9)) in headers:  # more was promised
            connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(65536):
            content += part
    return (int(content.split(b" ", 2)[1]) if content else 400), content


def test_given_labels_come_first(tmp_path):
    with serving(tmp_path, learns=False, given={"row 1": Mark("cat", "file")}) as (client, _):
        assert client.get("api/cards", {"rows": [1]})[0]["source"] == "file"
        client.get("api/label", {"rows": [1], "label": "dog"})
        assert client.get("api/undo", {})["classes"] == [
            {"name": "cat", "n": 1},
            {"name": "dog", "n": 0},
        ]
