//! The rows of `Tests/peers` by rusqlite, as an expert writes them: statements prepared once, columns by position.
//!
//!     rusqlite-peer ROW memory|wal ROWS RUNS FILE
//!
//! prints the nanoseconds per record of each run, a line each. A first run is for caches.

use rusqlite::{params, Connection, Result, Row};
use std::hint::black_box;
use std::time::Instant;

struct Player {
    id: i64,
    name: String,
    score: i64,
    ratio: f64,
    email: Option<String>,
}

impl Player {
    fn many(count: i64) -> Vec<Player> {
        (1..=count)
            .map(|number| Player {
                id: number,
                name: format!("Player number {}", 100_000 + number),
                score: number * 7 % 1000,
                ratio: number as f64 / 3.0,
                email: if number % 3 == 0 { None } else { Some(format!("player{number}@example.org")) },
            })
            .collect()
    }

    fn of(row: &Row) -> Result<Player> {
        Ok(Player {
            id: row.get(0)?,
            name: row.get(1)?,
            score: row.get(2)?,
            ratio: row.get(3)?,
            email: row.get(4)?,
        })
    }
}

const INSERT: &str = "INSERT INTO player VALUES (?, ?, ?, ?, ?)";
const UPDATE: &str = "UPDATE player SET name = ?, score = ?, ratio = ?, email = ? WHERE id = ?";
const SELECT: &str = "SELECT id, name, score, ratio, email FROM player";

fn begin_anew(db: &Connection) -> Result<()> {
    if !db.is_autocommit() {
        db.execute_batch("COMMIT")?;
    }
    db.execute_batch("BEGIN")
}

fn insert(db: &Connection, players: &[Player]) -> Result<()> {
    let mut insert = db.prepare_cached(INSERT)?;
    for player in players {
        insert.execute(params![player.id, player.name, player.score, player.ratio, player.email])?;
    }
    Ok(())
}

/// Runs a row's work once, and returns how many nanoseconds it took.
fn run(row: &str, db: &Connection, players: &[Player]) -> Result<u128> {
    match row {
        "insert" => {
            if !db.is_autocommit() {
                db.execute_batch("COMMIT")?;
            }
            db.execute_batch("DELETE FROM player; VACUUM; BEGIN")?;
        }
        "update" | "find" => begin_anew(db)?,
        _ => {}
    }
    let start = Instant::now();
    match row {
        "insert" => insert(db, players)?,
        "update" => {
            let mut update = db.prepare_cached(UPDATE)?;
            for player in players {
                update.execute(params![
                    player.name,
                    player.score,
                    player.ratio,
                    player.email,
                    player.id
                ])?;
            }
        }
        "fetch-all" => {
            let mut select = db.prepare_cached(SELECT)?;
            let all: Vec<Player> = select.query_map([], Player::of)?.collect::<Result<_>>()?;
            black_box(all);
        }
        "select-tuple" => {
            let mut select = db.prepare_cached("SELECT name, score FROM player")?;
            let all: Vec<(String, i64)> =
                select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
            black_box(all);
        }
        "find" => {
            let mut find = db.prepare_cached(
                "SELECT id, name, score, ratio, email FROM player WHERE id = ?",
            )?;
            for player in players {
                black_box(find.query_row([player.id], Player::of)?);
            }
        }
        _ => panic!("no row {row}"),
    }
    Ok(start.elapsed().as_nanos())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [row, storage, rows, runs, file] = &arguments[..] else {
        panic!("usage: rusqlite-peer ROW memory|wal ROWS RUNS FILE");
    };
    let (rows, runs): (i64, usize) = (rows.parse().unwrap(), runs.parse().unwrap());
    let db = if storage == "wal" { Connection::open(file)? } else { Connection::open_in_memory()? };
    db.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA cache_size = -16384;
         CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
           ratio REAL NOT NULL, email TEXT)",
    )?;
    let players = Player::many(rows);
    if row != "insert" {
        db.execute_batch("BEGIN")?;
        insert(&db, &players)?;
        db.execute_batch("COMMIT")?;
    }
    for number in 0..=runs {
        let time = run(row, &db, &players)?;
        if number > 0 {
            println!("{:.1}", time as f64 / rows as f64);
        }
    }
    Ok(())
}
