// error: conformance of 'Row' to 'Sendable' is unavailable
import LarderSQLite

func keep<T: Sendable>(_ value: T) {}

func use(_ rows: ResultSet) { keep(rows.row) }
