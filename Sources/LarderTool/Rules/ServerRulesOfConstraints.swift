// Rules about the keys and constraints of a server's tables.

let serverRulesOfConstraints: [ServerRule] = [
  ServerRule(
    "no-primary-key", .warning,
    "Rows without a key can't be told apart, changed one by one, or replicated.",
    advice: "Declare a key.",
    query: """
      SELECT c.relname::text, NULL, NULL,
        'no primary key, and no unique columns that are NOT NULL', NULL
      FROM own c
      WHERE NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
        AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
        AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid
          AND a.attnum = ANY ((i.indkey::int2[])[0 : i.indnkeyatts - 1]) AND NOT a.attnotnull))
      ORDER BY c.oid
      """),
  ServerRule(
    "foreign-key-index", advice: "Create one, CONCURRENTLY if others write meanwhile.",
    query: """
      , keys AS (
        SELECT k.oid, k.conrelid, k.confrelid, k.conkey, c.relname,
          (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY u (n, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n) AS names,
          (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY u.place)
            FROM unnest(k.conkey) WITH ORDINALITY u (n, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n) AS list
        FROM pg_constraint k JOIN own c ON c.oid = k.conrelid
        WHERE k.contype = 'f' AND k.conparentid = 0
      )
      SELECT k.relname::text, k.names::text, NULL,
        format('no index begins with this key to “%s”', f.relname),
        format('CREATE INDEX ON %I (%s)', k.relname, k.list)
      FROM keys k JOIN pg_class f ON f.oid = k.confrelid
      WHERE NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indisvalid
        AND i.indpred IS NULL AND i.indnkeyatts >= cardinality(k.conkey)
        AND (i.indkey::int2[])[0 : cardinality(k.conkey) - 1] @> k.conkey)
      ORDER BY k.oid
      """),
  ServerRule(
    "foreign-key-type", .warning,
    "A foreign key whose type differs from the key it refers to can't hold all values, or compares slowly.",
    advice: "Declare both with the same type.",
    query: """
      SELECT c.relname::text, json_build_array(a.attname)::text, NULL,
        format('it is %s, and “%s”.“%s” is %s', format_type(a.atttypid, NULL), f.relname, b.attname,
          format_type(b.atttypid, NULL)),
        format('ALTER TABLE %I ALTER %I TYPE %s', c.relname, a.attname,
          format_type(b.atttypid, b.atttypmod))
      FROM pg_constraint k JOIN own c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u (own, other, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.own
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = u.other
      WHERE k.contype = 'f' AND k.conparentid = 0 AND a.atttypid <> b.atttypid
        AND NOT (a.atttypid IN (25, 1043) AND b.atttypid IN (25, 1043))
      ORDER BY k.oid, u.place
      """),
  ServerRule(
    "constraint-not-valid", .warning,
    "A constraint that is NOT VALID was never checked for the rows that existed before it.",
    advice: "Validate it, and correct the rows that break it.",
    query: """
      SELECT c.relname::text,
        (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY u (n, place)
          JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n)::text,
        k.conname::text, pg_get_constraintdef(k.oid),
        format('ALTER TABLE %I VALIDATE CONSTRAINT %I', c.relname, k.conname)
      FROM pg_constraint k JOIN own c ON c.oid = k.conrelid WHERE NOT k.convalidated ORDER BY k.oid
      """),
]
