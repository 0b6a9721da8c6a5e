// Rules about a server's indexes, and about the planner's statistics.

let serverRulesOfIndexes: [ServerRule] = [
  ServerRule(
    "invalid-index", .error,
    "An index that CREATE INDEX CONCURRENTLY left invalid is updated with every row, but never used.",
    advice: "Rebuild it, or drop it.",
    query: """
      SELECT c.relname::text, NULL, x.relname::text, format('“%s” is not valid', x.relname),
        format('REINDEX INDEX CONCURRENTLY %I', x.relname)
      FROM pg_index i JOIN own c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
      WHERE NOT i.indisvalid AND x.relkind = 'i'
        AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = x.oid)
      ORDER BY x.oid
      """),
  ServerRule(
    "duplicate-index", advice: "Drop it.",
    query: """
      , ranked AS (
        SELECT c.relname, x.relname AS name, x.oid, k.conname,
          EXISTS (SELECT 1 FROM pg_constraint f WHERE f.conindid = x.oid AND f.contype = 'f') AS is_needed,
          (SELECT json_agg(a.attname ORDER BY u.place)
            FROM unnest(i.indkey::int2[]) WITH ORDINALITY u (n, place)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.n) AS names,
          first_value(x.relname) OVER same AS other, row_number() OVER same AS place
        FROM pg_index i JOIN own c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
          LEFT JOIN pg_constraint k ON k.conindid = x.oid AND k.contype IN ('p', 'u', 'x')
        WHERE i.indisvalid
        WINDOW same AS (
          PARTITION BY i.indrelid, x.relam, i.indkey::text, i.indnkeyatts, i.indclass::text,
            i.indcollation::text, i.indoption::text, i.indimmediate,
            coalesce(pg_get_expr(i.indexprs, i.indrelid), ''),
            coalesce(pg_get_expr(i.indpred, i.indrelid), ''), i.indisexclusion
          ORDER BY i.indisprimary DESC,
            EXISTS (SELECT 1 FROM pg_constraint f WHERE f.conindid = x.oid AND f.contype = 'f') DESC,
            k.oid IS NOT NULL DESC, i.indisunique DESC, x.oid)
      )
      SELECT relname::text, names::text, name::text, format('“%s” is the same as “%s”', name, other),
        CASE WHEN conname IS NULL THEN format('DROP INDEX %I', name)
          ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', relname, conname) END
      FROM ranked WHERE place > 1 AND NOT is_needed ORDER BY oid
      """),
  ServerRule(
    "redundant-index", advice: "Drop it.",
    query: """
      SELECT c.relname::text,
        (SELECT json_agg(a.attname ORDER BY u.place)
          FROM unnest(i.indkey::int2[]) WITH ORDINALITY u (n, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.n)::text,
        x.relname::text, format('“%s” begins with the columns of “%s”', min(y.relname), x.relname),
        format('DROP INDEX %I', x.relname)
      FROM pg_index i JOIN own c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
        JOIN pg_index j ON j.indrelid = i.indrelid AND j.indexrelid <> i.indexrelid
        JOIN pg_class y ON y.oid = j.indexrelid
        JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree' AND y.relam = x.relam
      WHERE NOT i.indisunique AND i.indisvalid AND j.indisvalid AND i.indexprs IS NULL
        AND i.indnatts = i.indnkeyatts AND j.indnkeyatts > i.indnkeyatts
        AND (j.indkey::int2[])[0 : i.indnkeyatts - 1] = (i.indkey::int2[])[0 : i.indnkeyatts - 1]
        AND (j.indclass::oid[])[0 : i.indnkeyatts - 1] = (i.indclass::oid[])[0 : i.indnkeyatts - 1]
        AND (j.indcollation::oid[])[0 : i.indnkeyatts - 1] = (i.indcollation::oid[])[0 : i.indnkeyatts - 1]
        AND (j.indoption::int2[])[0 : i.indnkeyatts - 1] = (i.indoption::int2[])[0 : i.indnkeyatts - 1]
        AND coalesce(pg_get_expr(i.indpred, i.indrelid), '')
          = coalesce(pg_get_expr(j.indpred, j.indrelid), '')
      GROUP BY c.oid, c.relname, x.oid, x.relname, i.indkey ORDER BY x.oid
      """),
  ServerRule(
    "statistics-missing", .note,
    "Without the statistics of ANALYZE the planner guesses how many rows a condition finds.",
    advice: "Gather them, and make sure that autovacuum does from now on.",
    query: """
      SELECT c.relname::text, NULL, NULL,
        format('there are no statistics of its %s', pg_size_pretty(pg_relation_size(c.oid))),
        format('ANALYZE %I', c.relname)
      FROM own c
      WHERE c.relkind = 'r' AND pg_relation_size(c.oid) >= 262144
        AND has_table_privilege(c.oid, 'SELECT')
        AND NOT EXISTS (SELECT 1 FROM pg_stats s
          WHERE s.schemaname = current_schema() AND s.tablename = c.relname)
      ORDER BY c.oid
      """),
  ServerRule(
    "statistics-outdated",
    advice: "Gather them again, and make sure that autovacuum does from now on.",
    query: """
      SELECT c.relname::text, NULL, NULL,
        format('%s rows were changed since the last ANALYZE, which found %s', s.n_mod_since_analyze,
          c.reltuples::bigint),
        format('ANALYZE %I', c.relname)
      FROM own c JOIN pg_stat_user_tables s ON s.relid = c.oid
      WHERE coalesce(s.last_analyze, s.last_autoanalyze) IS NOT NULL AND c.reltuples >= 0
        AND s.n_mod_since_analyze >= 1000 AND s.n_mod_since_analyze > c.reltuples / 2
      ORDER BY c.oid
      """),
]
