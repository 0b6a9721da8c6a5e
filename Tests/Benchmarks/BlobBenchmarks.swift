import CSQLite
import FoundationEssentials
import LarderSQLite

/// A blob of 32 MiB read in pieces of 4 KiB, into a buffer on both sides.
enum BlobBenchmarks {
  static let all = [pieces]

  private static let pieceCount = 8192
  private static let piece = 4096
  private static let schema = "CREATE TABLE file (content BLOB)"

  private static func row(_ players: [Player]) -> String {
    let count = InstructionCount.calls(pieceCount, players.count)
    return "INSERT INTO file VALUES (randomblob(\(count * piece)))"
  }

  private static let pieces = Benchmark(
    name: "blob-pieces", count: { InstructionCount.calls(pieceCount, $0.rows) },
    makeReference: { reference, players in
      try reference.execute("\(schema); \(row(players))")
      return .init {
        var blob: OpaquePointer?
        try reference.check(
          sqlite3_blob_open(reference.handle, "main", "file", "content", 1, 0, &blob))
        defer { sqlite3_blob_close(blob) }
        let count = Int(sqlite3_blob_bytes(blob))
        try withUnsafeTemporaryAllocation(byteCount: piece, alignment: 8) { buffer in
          for offset in stride(from: 0, to: count, by: piece) {
            try reference.check(
              sqlite3_blob_read(blob, buffer.baseAddress, Int32(piece), Int32(offset)))
            sink &+= Int(buffer[0])
          }
        }
      }
    },
    makeLarder: { side, players in
      try side.db.executeStatements(SQL(raw: "\(schema); \(row(players))"))
      return .init {
        let blob = try side.db.openBlob("file", column: "content", row: 1)
        defer { blob.close() }
        try withUnsafeTemporaryAllocation(byteCount: piece, alignment: 8) { buffer in
          for offset in stride(from: 0, to: blob.count, by: piece) {
            try blob.read(into: buffer, at: offset)
            sink &+= Int(buffer[0])
          }
        }
      }
    })
}
