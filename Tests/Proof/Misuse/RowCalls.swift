import Foundation
import Larder

extension MisuseCall {
  /// The calls on result sets.
  static let resultSets = [
    MisuseCall("ResultSet.next()") { _ = try $0.rows.next() },
    MisuseCall("ResultSet.forEach(_:)") { try $0.rows.forEach { _ in } },
    MisuseCall("ResultSet.map(_:)") { _ = try $0.rows.map { try $0[0] } },
    MisuseCall("ResultSet.close()", outcome: .neutral) { $0.rows.close() },
    MisuseCall("ResultSet.row", outcome: .neutral) {
      _ = $0.rows.row
    },
  ]

  /// The calls on statements.
  static let preparedStatements = [
    MisuseCall("Statement.step()") { _ = try $0.statement.step() },
    MisuseCall("Statement.reset()") { try $0.statement.reset() },
    MisuseCall("Statement.bind(_:)") { try $0.statement.bind() },
    MisuseCall("Statement.bind(arguments:)") { try $0.statement.bind(arguments: []) },
    MisuseCall("Statement.execute(_:)") { try $0.statement.execute() },
    MisuseCall("Statement.execute(arguments:)") { try $0.statement.execute(arguments: []) },
    MisuseCall("Statement.query(_:)") { _ = try $0.statement.query().next() },
    MisuseCall("Statement.query(arguments:)") {
      _ = try $0.statement.query(arguments: []).next()
    },
    MisuseCall(
      "Statement.isReadOnly", "Statement.parameterCount", "Statement.sql", outcome: .neutral
    ) { _ = ($0.statement.isReadOnly, $0.statement.parameterCount, $0.statement.sql) },
    MisuseCall("Statement.statistics") { _ = try $0.statement.statistics },
    MisuseCall("Statement.columnOrigins") { _ = try $0.statement.columnOrigins },
    MisuseCall("ResultSet.columnOrigins") { _ = try $0.rows.columnOrigins },
    MisuseCall("Statement.close()", outcome: .neutral) { $0.statement.close() },
    MisuseCall("Blob.read(at:count:)") { _ = try $0.blob.read() },
    MisuseCall("Blob.read(into:at:)") { stage in
      try withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) {
        try stage.blob.read(into: $0, at: 0)
      }
    },
    MisuseCall("Blob.write(_:at:)", outcome: .either) { try $0.blob.write([1], at: 0) },
    MisuseCall("Blob.reopen(row:)") { try $0.blob.reopen(row: 2) },
    MisuseCall("Blob.count", "Blob.isReadOnly", outcome: .neutral) {
      _ = ($0.blob.count, $0.blob.isReadOnly)
    },
    MisuseCall("Blob.close()", outcome: .neutral) { $0.blob.close() },
  ]

  /// The calls that read the columns of result sets, rows and statements alike.
  static let columns =
    ["ResultSet", "Row", "Statement"].flatMap(columns) + [
      MisuseCall("Row.description", outcome: .neutral) { _ = "\($0.row)" }
    ]

  private static func columns(of type: String) -> [MisuseCall] {
    let access: @Sendable (MisuseStage) -> any ColumnAccess =
      switch type {
      case "ResultSet": { $0.rows }
      case "Row": { $0.row }
      default: { $0.statement }
      }
    return [
      MisuseCall(
        "\(type).columnNames", "ColumnAccess.columnNames", "ColumnAccess.columnCount",
        outcome: .neutral
      ) { _ = (access($0).columnNames, access($0).columnCount) },
      MisuseCall("\(type).columnIndex(named:)", "ColumnAccess.columnIndex(named:)") {
        _ = try access($0).columnIndex(named: "name")
      },
      MisuseCall("\(type).describe(_:at:)", "ColumnAccess.describe(_:at:)", outcome: .neutral) {
        _ = access($0).describe(ConversionError(.malformed, Int.self), at: 0)
      },
      MisuseCall("ColumnAccess.get(_:as:)") { _ = try access($0).get("id", as: Int.self) },
      MisuseCall("ColumnAccess.get(at:as:)") { _ = try access($0).get(at: 1, as: Int.self) },
      MisuseCall("ColumnAccess.subscript(_:)") { _ = try access($0)["id"] },
      MisuseCall("ColumnAccess.subscript(_:)") { _ = try access($0)[1] },
      MisuseCall("ColumnAccess.isNull(_:)") { _ = try access($0).isNull("id") },
      MisuseCall("ColumnAccess.isNull(at:)") { _ = try access($0).isNull(at: 1) },
      MisuseCall("ColumnAccess.storageClass(_:)") { _ = try access($0).storageClass("id") },
      MisuseCall("ColumnAccess.storageClass(at:)") { _ = try access($0).storageClass(at: 1) },
      MisuseCall("ColumnAccess.dictionary") {
        _ = try access($0).dictionary
      },
      MisuseCall("ColumnAccess.withUnsafeBytes(_:_:)") { stage in
        _ = try access(stage).withUnsafeBytes("name") { bytes in
          stage.rows.close()
          stage.statement.close()
          return Array(bytes)
        }
      },
      MisuseCall("ColumnAccess.withUnsafeBytes(at:_:)") { stage in
        _ = try access(stage).withUnsafeBytes(at: 0) { bytes in
          stage.db.closeOpenStatements()
          return Array(bytes)
        }
      },
      MisuseCall("\(type).whileReading(_:)", "ColumnAccess.whileReading(_:)", outcome: .either) {
        stage in
        try access(stage).whileReading { _ = try access(stage)[0] }
      },
      MisuseCall(
        "\(type).reader(at:)", "ColumnAccess.reader(at:)", "ColumnReader.dateFormat",
        "ColumnReader.integer", "ColumnReader.isNull", "ColumnReader.real",
        "ColumnReader.storageClass", "ColumnReader.text()",
        "ColumnReader.withUnsafeBytes(_:)"
      ) {
        let reader = try access($0).reader(at: 0)
        _ = (reader.dateFormat, reader.isNull, reader.storageClass)
        _ = (reader.integer, reader.real)
        _ = try reader.text()
        _ = try reader.withUnsafeBytes { Array($0) }
      },
    ]
  }
}
