import Foundation
import Larder
import ProofSupport

extension FaultScript {
  /// What a plain connection can do besides: blobs in pieces, copies as bytes, windows, collations that are asked
  /// for, indexes that are missing, and upkeep.
  static let capabilities = FaultScript(
    name: "capabilities",
    steps: [
      FaultStep("open") { try $0.open() },
      .with("room") { db in
        try db.executeUpdate("INSERT INTO document VALUES (1, zeroblob(9000)), (2, x'010203')")
      },
      .with("write a blob") { db in
        try db.inTransaction { db in
          let blob = try db.openBlob("document", column: "body", row: 1, isWritable: true)
          try blob.write([1, 2, 3], at: 0)
          try blob.write([4, 5, 6], at: 8997)
        }
      },
      .with("read a blob") { db in
        let blob = try db.openBlob("document", column: "body", row: 1)
        try WrongAnswer.check(blob.count, 9000, "the size of a blob")
        try WrongAnswer.check(
          try blob.read(at: 8996), [0, 4, 5, 6] as [UInt8], "the end of a blob")
        try blob.reopen(row: 2)
        try WrongAnswer.check(try blob.read(), [1, 2, 3] as [UInt8], "a blob of another row")
      },
      .with("bytes") { db in
        let copy = try Database(serialized: db.serialized())
        let sum = try copy.value("SELECT sum(population) FROM place", as: Int.self)
        try WrongAnswer.check(sum, FaultTemplate.population, "the sum in a copy")
        try copy.executeUpdate("DELETE FROM place")
      },
      .with("window") { db in
        try db.createAggregate(
          "added", argumentCount: 1, initial: 0,
          step: { sum, arguments in sum += try Int(databaseValue: arguments[0]) },
          inverse: { sum, arguments in sum -= try Int(databaseValue: arguments[0]) },
          final: { $0 })
        let sums = try db.executeQuery(
          """
          SELECT added(population) OVER (ORDER BY population ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
          FROM place WHERE population < 4500
          """
        ).map { try $0.get(at: 0, as: Int.self) }
        try WrongAnswer.check(sums, [1000, 3000, 5000, 7000], "the sums of a window")
      },
      .with("collation") { db in
        let order: @Sendable (String, String) -> ComparisonResult = {
          $0 < $1 ? .orderedDescending : .orderedAscending
        }
        try db.createCollation { name in name == "backwards" ? order : nil }
        let first = try db.value(
          "SELECT name FROM place WHERE id < 10 ORDER BY name COLLATE backwards", as: String.self)
        try WrongAnswer.check(first, Place(id: nil, number: 9).name, "the first by a collation")
      },
      .with("missing index") { db in
        let indexes = try db.suggestedIndexes(for: "SELECT * FROM place WHERE note = ?")
        try WrongAnswer.check(indexes.map(\.name), ["place_note"], "the index that is missing")
      },
      .with("origins") { db in
        let origins = try db.prepare("SELECT name, 1 FROM place").columnOrigins
        try WrongAnswer.check(
          origins.map { $0?.column }, ["name", nil], "the origins of columns")
      },
      .with("figures") { db in
        try WrongAnswer.check(try db.statistics.cacheHits > 0, true, "whether pages were found")
      },
      .with("optimize") { try $0.optimize() },
      FaultStep("vacuum into") { bench in
        let copy = bench.file("copy.db")
        do {
          try bench.database().vacuum(into: copy)
        } catch let error as DatabaseError {
          // SQLite leaves what it has written.
          unlink(copy)
          // That is what it says where it can't tell the size of the new file.
          let isSize = error.message == "output file already exists"
          throw isSize ? DatabaseError(code: .ioError, message: error.message) : error
        }
      },
      FaultStep("close") { try $0.close() },
    ])
}
