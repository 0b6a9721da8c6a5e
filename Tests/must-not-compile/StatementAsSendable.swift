// error: conformance of 'Statement' to 'Sendable' is unavailable
import LarderSQLite

func keep<T: Sendable>(_ value: T) {}

func use(_ statement: Statement) { keep(statement) }
