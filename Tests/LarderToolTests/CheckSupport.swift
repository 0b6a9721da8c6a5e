import Foundation
import Larder
import Testing

/// A finding as `larder check --json` prints it.
struct FoundProblem: Hashable, Decodable {
  struct Evidence: Hashable, Decodable {
    let table: String?
    let columns: [String]
    let object: String?
    let found: String
    let rows: Int?
    let rowIDs: [Int64]
    let sql: [String]
  }

  let rule: String
  let severity: String
  let evidence: Evidence
}

struct CheckedReport: Decodable {
  let findings: [FoundProblem]
  let remarks: [String]
}

extension Tool {
  /// Runs `larder check` and returns its findings and exit status. Expects the database to stay unchanged.
  func check(_ name: String, _ options: String...) throws -> (CheckedReport, status: Int32) {
    let before = try contents(of: name)
    let files = try files()
    let result = try run(["check", name, "--json"] + options)
    #expect(result.errors.isEmpty, "\(result.errors)")
    #expect(try contents(of: name) == before)
    #expect(try self.files() == files)
    return (
      try JSONDecoder().decode(CheckedReport.self, from: Data(result.output.utf8)), result.status
    )
  }

  func make(_ name: String, _ statements: String...) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.allowsDoubleQuotedStrings = true
    configuration.trustsSchema = true
    let db = try Database(path: file(name), configuration: configuration)
    for text in statements { try db.executeStatements(SQL(raw: text)) }
    try db.close()
  }
}
