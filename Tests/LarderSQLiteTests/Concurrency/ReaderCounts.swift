import LarderSQLite

/// How many connections of a pool read, as its statistics tell.
struct ReaderCounts: Equatable {
  var idle: Int
  var busy: Int
  var open: Int { idle + busy }
}

extension DatabaseAccess {
  var readerCounts: ReaderCounts {
    let statistics = statistics
    return ReaderCounts(idle: statistics.idleReaders, busy: statistics.busyReaders)
  }
}
