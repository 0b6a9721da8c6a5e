"""The rows of `Tests/peers` by Python's sqlite3: statements from its cache, rows as tuples.

    peer.py ROW memory|wal ROWS RUNS FILE

prints the nanoseconds per record of each run, a line each. A first run is for caches.
"""

import sqlite3
import sys
import time

row, storage, rows, runs, file = sys.argv[1:]
rows, runs = int(rows), int(runs)
db = sqlite3.connect(file if storage == "wal" else ":memory:", isolation_level=None)
db.executescript(
    """
    PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA cache_size = -16384;
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
      ratio REAL NOT NULL, email TEXT)
    """
)
players = [
    (n, f"Player number {100_000 + n}", n * 7 % 1000, n / 3, None if n % 3 == 0 else f"player{n}@example.org")
    for n in range(1, rows + 1)
]


def prepare():
    if db.in_transaction and row in ("insert", "update", "find"):
        db.execute("COMMIT")
    if row == "insert":
        db.execute("DELETE FROM player")
        db.execute("VACUUM")
    if row in ("insert", "update", "find"):
        db.execute("BEGIN")


def insert():
    for player in players:
        db.execute("INSERT INTO player VALUES (?, ?, ?, ?, ?)", player)


def update():
    for id, name, score, ratio, email in players:
        db.execute(
            "UPDATE player SET name = ?, score = ?, ratio = ?, email = ? WHERE id = ?", (name, score, ratio, email, id)
        )


def fetch_all():
    return db.execute("SELECT id, name, score, ratio, email FROM player").fetchall()


def select_tuple():
    return db.execute("SELECT name, score FROM player").fetchall()


def find():
    for player in players:
        db.execute("SELECT id, name, score, ratio, email FROM player WHERE id = ?", player[:1]).fetchone()


work = {"insert": insert, "update": update, "fetch-all": fetch_all, "select-tuple": select_tuple, "find": find}[row]
if row != "insert":
    db.execute("BEGIN")
    insert()
    db.execute("COMMIT")
for number in range(runs + 1):
    prepare()
    start = time.perf_counter_ns()
    # What was read is freed within the time, as by the other libraries' programs.
    work()
    end = time.perf_counter_ns()
    if number > 0:
        print(f"{(end - start) / rows:.1f}")
