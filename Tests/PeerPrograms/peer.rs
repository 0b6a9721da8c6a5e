//! The rows of `Tests/peers` by rusqlite, as an expert writes them: columns by position, and statements either from its
//! cache for each record, as a function that inserts a record does, or held by the caller for all records.
//!
//!     rusqlite-peer cached|held ROW memory|wal ROWS RUNS FILE
//!
//! prints the nanoseconds per record of each run, a line each. A first run is for caches.

use rusqlite::{params, Connection, Result, Row, Statement};
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
const FIND: &str = "SELECT id, name, score, ratio, email FROM player WHERE id = ?";

fn begin_anew(db: &Connection) -> Result<()> {
    if !db.is_autocommit() {
        db.execute_batch("COMMIT")?;
    }
    db.execute_batch("BEGIN")
}

fn insert(statement: &mut Statement, player: &Player) -> Result<usize> {
    statement.execute(params![player.id, player.name, player.score, player.ratio, player.email])
}

fn update(statement: &mut Statement, player: &Player) -> Result<usize> {
    statement.execute(params![player.name, player.score, player.ratio, player.email, player.id])
}

fn find(statement: &mut Statement, player: &Player) -> Result<usize> {
    black_box(statement.query_row([player.id], Player::of)?);
    Ok(1)
}

/// Does something with each record, by a statement of the given text.
fn each<F>(db: &Connection, players: &[Player], sql: &str, is_held: bool, work: F) -> Result<()>
where
    F: Fn(&mut Statement, &Player) -> Result<usize>,
{
    if is_held {
        let mut statement = db.prepare(sql)?;
        for player in players {
            work(&mut statement, player)?;
        }
    } else {
        for player in players {
            work(&mut *db.prepare_cached(sql)?, player)?;
        }
    }
    Ok(())
}

/// Runs a row's work once, and returns how many nanoseconds it took.
fn run(row: &str, db: &Connection, players: &[Player], is_held: bool) -> Result<u128> {
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
        "insert" => each(db, players, INSERT, is_held, insert)?,
        "update" => each(db, players, UPDATE, is_held, update)?,
        "find" => each(db, players, FIND, is_held, find)?,
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
        _ => panic!("no row {row}"),
    }
    Ok(start.elapsed().as_nanos())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [statements, row, storage, rows, runs, file] = &arguments[..] else {
        panic!("usage: rusqlite-peer cached|held ROW memory|wal ROWS RUNS FILE");
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
        each(&db, &players, INSERT, true, insert)?;
        db.execute_batch("COMMIT")?;
    }
    for number in 0..=runs {
        let time = run(row, &db, &players, statements == "held")?;
        if number > 0 {
            println!("{:.1}", time as f64 / rows as f64);
        }
    }
    Ok(())
}
