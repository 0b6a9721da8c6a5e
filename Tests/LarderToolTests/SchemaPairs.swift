/// Two versions of a database: the old one with rows, and the new one.
struct SchemaPair {
  let title: String
  let old: String
  let new: String

  /// Pairs for which steps from old to new exist, whatever rows the old version has.
  static let all = [
    SchemaPair(
      title: "columns that ALTER TABLE adds",
      old:
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO city VALUES (1, 'Oslo');",
      new: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, mayor TEXT, area REAL NOT NULL DEFAULT 0);
        """),
    SchemaPair(
      title: "a column that is gone, and views that come and go",
      old: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, mayor TEXT);
        CREATE INDEX city_mayor ON city (mayor); CREATE INDEX city_name ON city (name);
        CREATE VIEW mayors AS SELECT mayor FROM city -- of today
        ; CREATE VIEW names AS SELECT name FROM city;
        INSERT INTO city VALUES (1, 'Oslo', 'Anne'), (7, 'Bergen', NULL);
        """,
      new: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX city_name ON city (name);
        CREATE VIEW names AS SELECT upper(name) AS name FROM city -- in capitals
        ;
        """),
    SchemaPair(
      title: "types, NOT NULL and a check",
      old: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population TEXT, area);
        INSERT INTO city VALUES (1, 'Oslo', '709037', 454.25), (2, '中国', NULL, 1.5);
        """,
      new: """
        CREATE TABLE city (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> ''), population INTEGER, area REAL,
          CHECK (population >= 0));
        """),
    SchemaPair(
      title: "foreign keys, of a table that refers to itself and is referred to",
      old: """
        CREATE TABLE country (code TEXT PRIMARY KEY, capital INTEGER);
        CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT REFERENCES country, part_of INTEGER);
        CREATE TABLE visit (city INTEGER NOT NULL REFERENCES city (id) ON DELETE CASCADE);
        INSERT INTO country VALUES ('NO', 1); INSERT INTO visit VALUES (1), (1), (2);
        INSERT INTO city VALUES (1, 'NO', NULL), (2, 'NO', 1), (3, 'XX', 1);
        """,
      new: """
        CREATE TABLE country (code TEXT PRIMARY KEY, capital INTEGER REFERENCES city (id));
        CREATE TABLE city (
          id INTEGER PRIMARY KEY, country TEXT REFERENCES country ON DELETE SET NULL,
          part_of INTEGER REFERENCES city (id));
        CREATE TABLE visit (city INTEGER NOT NULL REFERENCES city (id) ON DELETE CASCADE);
        """),
    SchemaPair(
      title: "indexes",
      old: """
        CREATE TABLE city (name TEXT, population INTEGER, code TEXT UNIQUE);
        CREATE INDEX by_name ON city (name); CREATE INDEX gone ON city (population);
        INSERT INTO city VALUES ('Oslo', 1, 'a'), ('Oslo', 2, 'b');
        """,
      new: """
        CREATE TABLE city (name TEXT, population INTEGER, code TEXT UNIQUE);
        CREATE INDEX by_name ON city (name COLLATE NOCASE DESC);
        CREATE UNIQUE INDEX large ON city (name) WHERE population > 1;
        CREATE INDEX lower ON city (lower(code), population);
        """),
    SchemaPair(
      title: "tables that come and go",
      old: """
        CREATE TABLE old_log (text TEXT); INSERT INTO old_log VALUES ('a');
        CREATE TABLE kept (id INTEGER PRIMARY KEY); INSERT INTO kept VALUES (5);
        """,
      new: """
        CREATE TABLE kept (id INTEGER PRIMARY KEY);
        CREATE TABLE city (id INTEGER PRIMARY KEY, kept INTEGER REFERENCES kept);
        CREATE INDEX city_kept ON city (kept);
        """),
    SchemaPair(
      title: "STRICT, and keys that are used once",
      old: """
        CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20), size DOUBLE);
        CREATE TABLE empty (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
        INSERT INTO city VALUES (1, 'Oslo', 1.5), (90, 'x', 2); DELETE FROM city WHERE id = 90;
        INSERT INTO empty VALUES (40, ''); DELETE FROM empty;
        """,
      new: """
        CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, size REAL) STRICT;
        CREATE TABLE empty (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL) STRICT;
        """),
    SchemaPair(
      title: "WITHOUT ROWID, and another key",
      old: """
        CREATE TABLE shelf (room TEXT NOT NULL, number INTEGER NOT NULL, label TEXT, PRIMARY KEY (room, number));
        INSERT INTO shelf VALUES ('b', 2, 'x'), ('a', 1, 'y'), ('a', 2, NULL);
        """,
      new: """
        CREATE TABLE shelf (
          room TEXT NOT NULL, number INTEGER NOT NULL, label TEXT, PRIMARY KEY (number DESC, room)
        ) WITHOUT ROWID;
        """),
    SchemaPair(
      title: "triggers, of a table that is made anew and of a view",
      old: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE log (text TEXT);
        CREATE VIEW names AS SELECT name FROM city;
        CREATE TRIGGER kept AFTER INSERT ON city BEGIN INSERT INTO log VALUES ('kept; ' || new.name); END;
        CREATE TRIGGER changed AFTER DELETE ON city BEGIN INSERT INTO log VALUES ('old'); END;
        CREATE TRIGGER gone AFTER UPDATE OF name ON city BEGIN DELETE FROM log; END;
        CREATE TRIGGER of_view INSTEAD OF INSERT ON names BEGIN SELECT 1; END;
        INSERT INTO city VALUES (1, 'Oslo');
        """,
      new: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL); CREATE TABLE log (text TEXT);
        CREATE VIEW names AS SELECT name FROM city WHERE id > 0;
        CREATE TRIGGER kept AFTER INSERT ON city BEGIN INSERT INTO log VALUES ('kept; ' || new.name); END;
        CREATE TRIGGER changed AFTER DELETE ON city BEGIN INSERT INTO log VALUES ('new'); END;
        CREATE TRIGGER of_view INSTEAD OF INSERT ON names BEGIN SELECT 1; END;
        """),
    SchemaPair(
      title: "computed columns",
      old: """
        CREATE TABLE box (a REAL, b REAL, area REAL AS (a * b), c REAL);
        INSERT INTO box (a, b, c) VALUES (1, 2, 3), (4, 5, 6);
        """,
      new: """
        CREATE TABLE box (
          a REAL, b REAL, area REAL AS (a * b) STORED, c REAL, sum REAL GENERATED ALWAYS AS (a + b + c));
        """),
    SchemaPair(
      title: "conflict clauses and a full-text index",
      old: """
        CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, tag TEXT);
        CREATE VIRTUAL TABLE note_text USING fts5 (text, content='note', content_rowid='id');
        INSERT INTO note VALUES (3, 'one', 'a'), (8, 'two', 'b');
        INSERT INTO note_text (note_text) VALUES ('rebuild');
        """,
      new: """
        CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, tag TEXT UNIQUE ON CONFLICT IGNORE);
        CREATE VIRTUAL TABLE note_text USING fts5 (text, content='note', content_rowid='id');
        CREATE VIRTUAL TABLE tag_text USING fts5 (tag);
        """),
    SchemaPair(
      title: "names that mean something elsewhere",
      old: ##"""
        CREATE TABLE "2024; DROP TABLE x; --" ("a""b" TEXT, "it's" TEXT, "line
        break" TEXT, "\(x)" TEXT, "🎉" TEXT, "" TEXT, "#""""""#" TEXT);
        CREATE TABLE "class" ("self" INTEGER PRIMARY KEY, "table" TEXT);
        CREATE TABLE "class rebuilt" ("x" TEXT); CREATE TABLE larder_check ("Type" TEXT);
        INSERT INTO "2024; DROP TABLE x; --" VALUES ('1', '2', '3', '4', '5', '6', '7');
        INSERT INTO "class" VALUES (1, 'x'); INSERT INTO "class rebuilt" VALUES ('y');
        """##,
      new: ##"""
        CREATE TABLE "2024; DROP TABLE x; --" ("a""b" TEXT NOT NULL, "it's" TEXT, "line
        break" INTEGER, "\(x)" TEXT, "🎉" TEXT CHECK ("🎉" <> '"""\'), "" TEXT, "#""""""#" TEXT);
        CREATE INDEX "by
        -- ""line""" ON "2024; DROP TABLE x; --" ("line
        break", "🎉");
        CREATE TABLE "class" ("self" INTEGER PRIMARY KEY, "table" TEXT NOT NULL, "tab	bed" TEXT);
        CREATE TABLE "class rebuilt" ("x" TEXT); CREATE TABLE larder_check ("Type" TEXT, "\\" TEXT);
        CREATE VIEW "'" AS SELECT "self" FROM "class";
        """##),
  ]
}
