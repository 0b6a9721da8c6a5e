import LarderSQLite

/// A pool's numbers of idle and busy readers, from its statistics.
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
