import CSQLite
import FoundationEssentials
import LarderSQLite

/// A blob of 32 MiB read in pieces of 4 KiB, into a buffer on both sides.
enum BlobBenchmarks {
  static let all = [pieces]

  private static let size = 32 << 20
  private static let piece = 4096
  private static let schema = "CREATE TABLE file (content BLOB)"
  private static let row = "INSERT INTO file VALUES (randomblob(\(size)))"

  private static let pieces = Benchmark(
    name: "blob-pieces", count: { _ in size / piece },
    makeReference: { reference, _ in
      try reference.execute("\(schema); \(row)")
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
    makeLarder: { side, _ in
      try side.db.executeStatements(SQL(raw: "\(schema); \(row)"))
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
