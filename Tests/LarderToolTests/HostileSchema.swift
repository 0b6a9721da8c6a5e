extension SampleSchemas {
  private static let longName = "long" + String(repeating: "_name", count: 200)

  /// A schema with names that are keywords or contain quotes, and with every clause of CREATE TABLE.
  static let hostile = #"""
    CREATE TABLE "class" (
      "default" INTEGER PRIMARY KEY AUTOINCREMENT, "in" TEXT NOT NULL DEFAULT 'it''s "so" \(1) ?',
      "self" INTEGER, "init" REAL DEFAULT 0, "columns" BLOB, "table" TEXT, "update" INT DEFAULT -5,
      "Any" TEXT, "Type" TEXT DEFAULT "quoted", "extension" TEXT DEFAULT bare, "hash" TEXT,
      "let" INTEGER REFERENCES "QueryRow", "var" TEXT, "inout" TEXT);
    CREATE TABLE "QueryRow" ("1" INTEGER PRIMARY KEY);
    CREATE TABLE "2024 sales; DROP TABLE x; --" (
      "1st" INTEGER, "first name" TEXT, "first_name" TEXT, "first-name" TEXT, "a""b" TEXT,
      "a'b" TEXT, "größe" REAL, "名前" TEXT, "🎉" TEXT, "\(x)" TEXT, "$0" INTEGER, "--" TEXT, " " TEXT,
      "line
    break" TEXT, "tab	bed" TEXT);
    CREATE TABLE "🎉🎉" ("a" INTEGER PRIMARY KEY);
    CREATE TABLE "" ("a" INTEGER PRIMARY KEY);
    CREATE TABLE "nothing" ("" TEXT);
    CREATE TABLE "half" (id INTEGER PRIMARY KEY, "" TEXT);
    CREATE TABLE order_item (id INTEGER PRIMARY KEY);
    CREATE TABLE "OrderItem" (id INTEGER PRIMARY KEY);
    CREATE TABLE order_items (id INTEGER PRIMARY KEY);
    CREATE TABLE "String" (id INTEGER PRIMARY KEY, "String" TEXT);
    CREATE TABLE "Column" (id INTEGER PRIMARY KEY, "Table" TEXT REFERENCES "Table" (name));
    CREATE TABLE "Table" (name TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES tasks ON DELETE SET NULL);
    CREATE TABLE types (
      a, b ANY, c "DOUBLE PRECISION", d VARCHAR(10) NOT NULL DEFAULT '', e UNSIGNED BIG INT,
      f DECIMAL(10, 5) DEFAULT 1.50, g BOOLEAN NOT NULL DEFAULT FALSE, h DATE, i TIMESTAMP
        DEFAULT CURRENT_TIMESTAMP, j STRING, k "foreign stuff" NOT NULL, l UUID, m JSON,
      n DEFAULT (1 + 2), o BLOB DEFAULT x'00ff', p TEXT DEFAULT NULL, q INTEGER DEFAULT 0x10,
      r "TEXT NOT NULL" , s REAL DEFAULT 1e3, t ANY NOT NULL);
    CREATE TABLE strictly (
      id INT NOT NULL PRIMARY KEY, any ANY, sure ANY NOT NULL, i INT, r REAL NOT NULL DEFAULT 1.5,
      t TEXT COLLATE NOCASE NOT NULL UNIQUE, b BLOB, is_open INTEGER NOT NULL DEFAULT 1
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE shelf (
      room TEXT NOT NULL, number INTEGER NOT NULL, label TEXT COLLATE RTRIM UNIQUE,
      PRIMARY KEY (number, room)
    ) WITHOUT ROWID;
    CREATE TABLE book (
      isbn TEXT PRIMARY KEY, room TEXT, number INTEGER, label TEXT REFERENCES shelf (label),
      price REAL CHECK (price >= 0) CHECK (price < 1000), pages INTEGER,
      cost REAL AS (price * 2), total REAL GENERATED ALWAYS AS (price + pages) STORED,
      code TEXT, part TEXT, author INTEGER REFERENCES gone (id),
      UNIQUE (code, part), UNIQUE (code COLLATE NOCASE, pages),
      CHECK (pages > 0 OR price IS NULL), CONSTRAINT named CHECK (isbn <> 'x"\'),
      FOREIGN KEY (number, room) REFERENCES shelf
        ON DELETE CASCADE ON UPDATE RESTRICT DEFERRABLE INITIALLY DEFERRED);
    CREATE INDEX book_pages_index ON book (pages);
    CREATE UNIQUE INDEX "by ""price""" ON book (price, pages) WHERE price > 0 AND code <> 'it''s';
    CREATE INDEX descending ON book (price DESC);
    CREATE INDEX expression ON book (lower(code));
    CREATE INDEX collated ON book (code COLLATE NOCASE);
    CREATE INDEX ascending ON book (code ASC, [part]);
    CREATE TABLE follows (
      follower INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
      followee_id INTEGER NOT NULL REFERENCES tasks (id), PRIMARY KEY (follower, followee_id));
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders, "all" INTEGER REFERENCES tasks,
      filter_id INTEGER NOT NULL REFERENCES tasks (id) ON UPDATE CASCADE ON DELETE SET DEFAULT);
    CREATE TABLE document (
      uuid TEXT PRIMARY KEY NOT NULL, owner BLOB NOT NULL, body TEXT NOT NULL, tags JSON NOT NULL,
      created TEXT NOT NULL, was_read INTEGER, at TEXT);
    CREATE TABLE page (document_uuid TEXT NOT NULL REFERENCES document (uuid), number INTEGER,
      PRIMARY KEY (document_uuid, number));
    CREATE TABLE clause (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a TEXT UNIQUE ON CONFLICT IGNORE);
    CREATE TABLE backwards (id INTEGER, a INTEGER, PRIMARY KEY (a DESC, id));
    CREATE VIEW "select" AS SELECT 1 AS "case", 'x' AS "a b", NULL AS "nil", x'00' AS "1";
    CREATE VIEW broken AS SELECT * FROM gone;
    CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
      SELECT i FROM n WHERE i < 0;
    CREATE TABLE "\#(longName)" ("\#(longName)" INTEGER PRIMARY KEY);
    CREATE TABLE hidden (
      a INTEGER DEFAULT (NULL), b TEXT COLLATE "RTRIM" DEFAULT ('x'), [c] TEXT, `d` TEXT UNIQUE,
      "e" INTEGER NOT NULL ON CONFLICT FAIL DEFAULT +1, /* a comment */ f TEXT CHECK (f <> 'a -- b') -- another
      , PRIMARY KEY (c, d COLLATE NOCASE));
    CREATE TABLE "城市" ("城市" TEXT PRIMARY KEY, "国家" TEXT NOT NULL REFERENCES "国家");
    CREATE TABLE "国家" ("国家" TEXT PRIMARY KEY);
    CREATE VIRTUAL TABLE words USING fts5(text);

    INSERT INTO "class" ("in", "self", "hash") VALUES ('a', 1, 'x'), ('b', 2, NULL);
    INSERT INTO "2024 sales; DROP TABLE x; --" ("1st", "größe", "名前", "🎉") VALUES (1, 1.5, '東京', 'x');
    INSERT INTO "String" VALUES (1, 'text');
    INSERT INTO "Table" VALUES ('here');
    INSERT INTO "Column" VALUES (1, 'here');
    INSERT INTO tasks VALUES (1, NULL), (2, 1), (3, 1);
    INSERT INTO types (a, b, k, l, t) VALUES (1, 'x', 1, 'n', 1), ('one', 2.5, 'text', 'o', 'x');
    INSERT INTO strictly VALUES (1, 'x', 2, 3, 4.5, 'open', x'01', 1), (2, NULL, 'y', 5, 1, 'shut', NULL, 0);
    INSERT INTO shelf VALUES ('north', 1, 'n1'), ('south', 1, 's1');
    INSERT INTO book (isbn, room, number, label, price, pages, code) VALUES
      ('1', 'north', 1, 'n1', 10, 100, 'a'), ('2', 'north', 1, NULL, 20, 200, 'b'), ('3', NULL, NULL, NULL, NULL, NULL, NULL);
    INSERT INTO follows VALUES (1, 2), (1, 3), (2, 3);
    INSERT INTO orders VALUES (1, NULL, 1, 1), (2, 1, NULL, 2);
    INSERT INTO document VALUES
      ('0b6a31f5-5a3f-4a07-9ad2-2a0a6b0a7f10', x'00112233445546778899AABBCCDDEEFF', '{"a":[1,null,{"b":true}]}',
        '["x","y"]', '2026-11-21T08:33:26.123Z', 0, '2026-11-21'),
      ('7d444840-9dc0-11d1-b245-5ffdce74fad2', x'00112233445546778899AABBCCDDEE00', '{}', '[]',
        '2026-11-22T08:33:26.000Z', NULL, 'tomorrow');
    INSERT INTO page VALUES ('0b6a31f5-5a3f-4a07-9ad2-2a0a6b0a7f10', 1);
    """#
}
