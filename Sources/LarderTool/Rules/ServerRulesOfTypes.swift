// Rules about the types of a server's columns.

let serverRulesOfTypes: [ServerRule] = [
  ServerRule(
    "float-money", advice: "Make it numeric, or store the smallest unit, such as cents, as bigint.",
    query: """
      SELECT c.relname::text, json_build_array(a.attname)::text, NULL,
        format('the column is %s', format_type(a.atttypid, NULL)),
        format('ALTER TABLE %I ALTER %I TYPE numeric', c.relname, a.attname)
      FROM own c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE a.atttypid IN (700, 701)
        AND regexp_replace(a.attname, '([a-z])([A-Z])', '\\1_\\2', 'g')
          ~* '(^|_)(price|amount|cost|balance|salary|fee|revenue|payment|wage)(_|$)'
      ORDER BY c.oid, a.attnum
      """),
  ServerRule(
    "timestamp-without-zone", .note,
    "A timestamp without a time zone is another moment for each session that has another zone.",
    advice: "Make it timestamptz, saying in which zone the values are.",
    query: """
      SELECT c.relname::text, json_build_array(a.attname)::text, NULL,
        'the column is timestamp without time zone',
        format('ALTER TABLE %I ALTER %I TYPE timestamptz USING %I AT TIME ZONE ''UTC''', c.relname,
          a.attname, a.attname)
      FROM own c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE a.atttypid = 1114 ORDER BY c.oid, a.attnum
      """),
  ServerRule(
    "json-type", .note,
    "A json value is parsed at each access, can't be compared, and can't have a GIN index.",
    advice: "Make it jsonb, unless spaces and the order of keys matter.",
    query: """
      SELECT c.relname::text, json_build_array(a.attname)::text, NULL, 'the column is json',
        format('ALTER TABLE %I ALTER %I TYPE jsonb', c.relname, a.attname)
      FROM own c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE a.atttypid = 114 ORDER BY c.oid, a.attnum
      """),
]
