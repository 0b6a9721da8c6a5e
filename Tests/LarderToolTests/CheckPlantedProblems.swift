import Larder
import Testing

/// A problem: the SQL that creates it, and the rule, table and columns that `larder check` must report.
struct PlantedProblem: CustomTestStringConvertible {
  let rule: String
  let table: String
  let columns: [String]
  let sql: String

  init(_ rule: String, _ table: String, _ columns: String..., sql: String) {
    self.rule = rule
    self.table = table
    self.columns = columns
    self.sql = sql
  }

  var testDescription: String { rule }

  /// One for each rule about tables and rows. Their tables differ, so one database can have all problems.
  static let all: [PlantedProblem] = ofSchemas + ofValues

  private static let ofSchemas = [
    PlantedProblem(
      "constraint-violated", "age",
      sql: """
        CREATE TABLE age (id INTEGER PRIMARY KEY, years INTEGER CHECK (years >= 0));
        PRAGMA ignore_check_constraints = ON;
        INSERT INTO age VALUES (1, 20), (2, -1);
        PRAGMA ignore_check_constraints = OFF;
        """),
    PlantedProblem(
      "foreign-key-violated", "town", "region",
      sql: """
        CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE town (id INTEGER PRIMARY KEY, region INTEGER REFERENCES region (id));
        CREATE INDEX town_region ON town (region);
        PRAGMA foreign_keys = OFF;
        INSERT INTO region VALUES (1, 'Oslo');
        INSERT INTO town VALUES (1, 1), (2, 7), (3, NULL);
        PRAGMA foreign_keys = ON;
        """),
    PlantedProblem(
      "text-index-differs", "poem_text",
      sql: """
        CREATE TABLE poem (id INTEGER PRIMARY KEY, body TEXT);
        CREATE VIRTUAL TABLE poem_text USING fts5(body, content='poem', content_rowid='id');
        INSERT INTO poem VALUES (1, 'spring'), (2, 'autumn');
        INSERT INTO poem_text(poem_text) VALUES ('rebuild');
        DELETE FROM poem WHERE id = 2;
        """),
    PlantedProblem(
      "sequence-behind", "ticket", "id",
      sql: """
        CREATE TABLE ticket (id INTEGER PRIMARY KEY AUTOINCREMENT, seat TEXT);
        INSERT INTO ticket VALUES (5, 'A1'), (9, 'B2');
        UPDATE sqlite_sequence SET seq = 5 WHERE name = 'ticket';
        """),
    PlantedProblem(
      "foreign-key-index", "street", "place",
      sql: """
        CREATE TABLE place (id INTEGER PRIMARY KEY);
        CREATE TABLE street (id INTEGER PRIMARY KEY, place INTEGER REFERENCES place (id));
        CREATE INDEX street_id_place ON street (id, place);
        """),
    PlantedProblem(
      "foreign-key-target", "lost", "home",
      sql: "CREATE TABLE lost (id INTEGER PRIMARY KEY, home INTEGER REFERENCES nowhere (id))"),
    PlantedProblem(
      "foreign-key-not-unique", "nickname", "person",
      sql: """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE nickname (id INTEGER PRIMARY KEY, person TEXT REFERENCES person (name));
        CREATE INDEX nickname_person ON nickname (person);
        """),
    PlantedProblem(
      "foreign-key-type", "plate", "car",
      sql: """
        CREATE TABLE car (id INTEGER PRIMARY KEY);
        CREATE TABLE plate (id INTEGER PRIMARY KEY, car TEXT REFERENCES car (id));
        CREATE INDEX plate_car ON plate (car);
        """),
    PlantedProblem(
      "foreign-key-set-null", "lamp", "room",
      sql: """
        CREATE TABLE room (id INTEGER PRIMARY KEY);
        CREATE TABLE lamp (
          id INTEGER PRIMARY KEY, room INTEGER NOT NULL REFERENCES room (id) ON DELETE SET NULL);
        CREATE INDEX lamp_room ON lamp (room);
        """),
    PlantedProblem(
      "duplicate-index", "fish", "name",
      sql: """
        CREATE TABLE fish (id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX fish_name ON fish (name);
        CREATE INDEX fish_name_again ON "fish" ("name");
        """),
    PlantedProblem(
      "redundant-index", "bird", "name",
      sql: """
        CREATE TABLE bird (id INTEGER PRIMARY KEY, name TEXT, colour TEXT);
        CREATE INDEX bird_name ON bird (name);
        CREATE INDEX bird_name_colour ON bird (name, colour);
        """),
    PlantedProblem(
      "index-on-primary-key", "tree", "id",
      sql: """
        CREATE TABLE tree (id INTEGER PRIMARY KEY, name TEXT);
        CREATE UNIQUE INDEX tree_id ON tree (id);
        """),
    PlantedProblem(
      "statistics-missing", "measurement",
      sql: """
        CREATE TABLE measurement (id INTEGER PRIMARY KEY, station INTEGER, value INTEGER);
        CREATE INDEX measurement_station ON measurement (station);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO measurement SELECT i, i % 10, i FROM n;
        """),
    PlantedProblem(
      "statistics-outdated", "event",
      sql: """
        CREATE TABLE event (id INTEGER PRIMARY KEY, kind INTEGER);
        CREATE INDEX event_kind ON event (kind);
        INSERT INTO event VALUES (1, 1), (2, 2);
        ANALYZE event;
        WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO event SELECT i, i % 10 FROM n;
        """),
    PlantedProblem("no-primary-key", "note", sql: "CREATE TABLE note (text TEXT)"),
    PlantedProblem(
      "null-in-primary-key", "coin", "code",
      sql: """
        CREATE TABLE coin (code TEXT PRIMARY KEY, name TEXT);
        INSERT INTO coin VALUES ('NOK', 'krone'), (NULL, 'yuan');
        """),
    PlantedProblem(
      "keys-running-out", "queue", "id",
      sql: """
        CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT);
        INSERT INTO queue VALUES (7000000000000000000, 'a');
        DELETE FROM queue;
        INSERT INTO queue (task) VALUES ('b');
        """),
    PlantedProblem(
      "foreign-key-collation", "branch", "bank",
      sql: """
        CREATE TABLE bank (name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE);
        CREATE TABLE branch (id INTEGER PRIMARY KEY, bank TEXT REFERENCES bank (name));
        CREATE INDEX branch_bank ON branch (bank);
        """),
    PlantedProblem(
      "keyword-name", "order", sql: "CREATE TABLE \"order\" (id INTEGER PRIMARY KEY)"),
    PlantedProblem(
      "misread-type", "zip", "code",
      sql: "CREATE TABLE zip (id INTEGER PRIMARY KEY, code STRING)"),
    PlantedProblem(
      "float-money", "bill", "unitPrice",
      sql: "CREATE TABLE bill (id INTEGER PRIMARY KEY, unitPrice DOUBLE)"),
    PlantedProblem(
      "broken-view", "ghosts",
      sql: "CREATE VIEW ghosts AS SELECT name FROM ghost"),
    PlantedProblem(
      "broken-trigger", "boat",
      sql: """
        CREATE TABLE boat (id INTEGER PRIMARY KEY);
        CREATE TRIGGER boat_added AFTER INSERT ON boat BEGIN
          INSERT INTO harbour (boat) VALUES (new.id);
        END;
        """),
    PlantedProblem(
      "double-quoted-string", "door",
      sql: """
        CREATE TABLE door (id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ("open", "shut")));
        """),
    PlantedProblem(
      "recursive-trigger", "page",
      sql: """
        CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT, version INTEGER);
        CREATE TRIGGER page_changed AFTER UPDATE ON page BEGIN
          UPDATE page SET version = version + 1 WHERE id = new.id;
        END;
        """),
    PlantedProblem(
      "now-in-constraint", "birth",
      sql: "CREATE TABLE birth (id INTEGER PRIMARY KEY, day TEXT CHECK (day <= date('now')))"),
  ]

  private static let ofValues = [
    PlantedProblem(
      "text-too-long", "member", "nickname",
      sql: """
        CREATE TABLE member (id INTEGER PRIMARY KEY, nickname VARCHAR(5));
        INSERT INTO member VALUES (1, 'Åsa-Ö'), (2, 'Robert');
        """),
    PlantedProblem(
      "mixed-case", "issue", "state",
      sql: """
        CREATE TABLE issue (id INTEGER PRIMARY KEY, state TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
        INSERT INTO issue SELECT i, iif(i % 7, 'Open', 'open') FROM n;
        """),
    PlantedProblem(
      "mixed-booleans", "answer", "agreed",
      sql: """
        CREATE TABLE answer (id INTEGER PRIMARY KEY, agreed TEXT);
        INSERT INTO answer VALUES (1, '1'), (2, 'true'), (3, '0'), (4, NULL);
        """),
    PlantedProblem(
      "ambiguous-dates", "bill_of_lading", "due",
      sql: """
        CREATE TABLE bill_of_lading (id INTEGER PRIMARY KEY, due TEXT);
        INSERT INTO bill_of_lading VALUES (1, '01/02/2024'), (2, '11/12/2024');
        """),
    PlantedProblem(
      "epoch-unit", "session", "started_seconds",
      sql: """
        CREATE TABLE session (id INTEGER PRIMARY KEY, started_seconds INTEGER);
        INSERT INTO session VALUES (1, 1767225600123), (2, 1767225601456);
        """),
    PlantedProblem(
      "spaces-in-unique", "label", "name",
      sql: """
        CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        INSERT INTO label VALUES (1, 'red'), (2, 'red ');
        """),
    PlantedProblem(
      "case-duplicates", "account", "email",
      sql: """
        CREATE TABLE account (id INTEGER PRIMARY KEY, email TEXT UNIQUE);
        INSERT INTO account VALUES (1, 'ada@example.com'), (2, 'Ada@example.com'), (3, 'bo@example.com');
        """),
    PlantedProblem(
      "text-in-number", "scale", "weight",
      sql: """
        CREATE TABLE scale (id INTEGER PRIMARY KEY, weight INTEGER);
        INSERT INTO scale VALUES (1, 12), (2, 'heavy');
        """),
    PlantedProblem(
      "real-in-integer", "stock", "pieces",
      sql: """
        CREATE TABLE stock (id INTEGER PRIMARY KEY, pieces INT);
        INSERT INTO stock VALUES (1, 12), (2, 1.5);
        """),
    PlantedProblem(
      "blob-in-text", "letter", "body",
      sql: """
        CREATE TABLE letter (id INTEGER PRIMARY KEY, body TEXT);
        INSERT INTO letter VALUES (1, 'hello'), (2, x'68656C6C6F');
        """),
    PlantedProblem(
      "mixed-types", "setting", "value",
      sql: """
        CREATE TABLE setting (name TEXT PRIMARY KEY NOT NULL, value);
        INSERT INTO setting VALUES ('size', 10), ('title', 'Larder');
        """),
    PlantedProblem(
      "numbers-in-text", "score", "points",
      sql: """
        CREATE TABLE score (id INTEGER PRIMARY KEY, points TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO score SELECT i, i FROM n;
        """),
    PlantedProblem(
      "boolean-values", "task", "is_done",
      sql: """
        CREATE TABLE task (id INTEGER PRIMARY KEY, is_done INTEGER);
        INSERT INTO task VALUES (1, 0), (2, 1), (3, 'yes'), (4, NULL);
        """),
    PlantedProblem(
      "mixed-dates", "visit", "day",
      sql: """
        CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT);
        INSERT INTO visit VALUES (1, '2026-01-05'), (2, '2026-01-06'), (3, '2026-01-07T12:30:00Z');
        """),
    PlantedProblem(
      "mixed-epochs", "login", "created_at",
      sql: """
        CREATE TABLE login (id INTEGER PRIMARY KEY, created_at INTEGER);
        INSERT INTO login VALUES (1, 1767225600), (2, 1767225601), (3, 1767225600123);
        """),
    PlantedProblem(
      "date-format-unknown", "contract", "signed_at",
      sql: """
        CREATE TABLE contract (id INTEGER PRIMARY KEY, signed_at TEXT);
        INSERT INTO contract VALUES (1, '5.1.2026'), (2, '17.2.2026'), (3, NULL);
        """),
    PlantedProblem(
      "impossible-date", "holiday", "day",
      sql: """
        CREATE TABLE holiday (id INTEGER PRIMARY KEY, day TEXT);
        INSERT INTO holiday VALUES (1, '2026-02-28'), (2, '2026-02-29'), (3, '2028-02-29');
        """),
    PlantedProblem(
      "invalid-utf8", "song", "title",
      sql: """
        CREATE TABLE song (id INTEGER PRIMARY KEY, title TEXT);
        INSERT INTO song VALUES (1, 'Jóga'), (2, CAST(x'4AF36761' AS TEXT));
        """),
    PlantedProblem(
      "nul-in-text", "secret", "word",
      sql: """
        CREATE TABLE secret (id INTEGER PRIMARY KEY, word TEXT);
        INSERT INTO secret VALUES (1, 'sesame'), (2, CAST(x'610062' AS TEXT));
        """),
    PlantedProblem(
      "invalid-json", "job", "payload",
      sql: """
        CREATE TABLE job (id INTEGER PRIMARY KEY, payload TEXT);
        INSERT INTO job VALUES (1, '{"a": 1}'), (2, '[]'), (3, '{"b": []}'), (4, '{}'), (5, '{"c": '), (6, NULL);
        """),
    PlantedProblem(
      "mixed-uuids", "device", "uuid",
      sql: """
        CREATE TABLE device (id INTEGER PRIMARY KEY, uuid TEXT);
        INSERT INTO device VALUES (1, 'a3bb189e-8bf9-3888-9912-ace4e6543002'),
          (2, 'b3bb189e-8bf9-3888-9912-ace4e6543002'), (3, 'C3BB189E-8BF9-3888-9912-ACE4E6543002');
        """),
  ]
}
