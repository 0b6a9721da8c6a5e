@_exported import LarderSQLite
