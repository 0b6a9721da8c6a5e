import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let `import` = Command(
    name: "import", arguments: "[FILE …]", argumentCount: 0...Int.max,
    summary:
      "Imports files of countries, cities and divisions; those of the sample if none is named.",
    details: """
      Which kind of records a file has shows in its first line. Records that are new are inserted, those
      that the file has otherwise are changed, and no others are touched. A file with a bad line is not
      imported at all; those before it stay. An interrupt undoes the whole import.
      """,
    options: [Option("skip-bad", nil, "leave bad lines out, and report them")]
  ) { invocation in
    Interruption.catchSignals()
    let paths = invocation.arguments.isEmpty ? try sampleFiles() : invocation.arguments
    let files = try paths.map { try ImportedFile(path: $0) }.sorted { $0.order < $1.order }
    let location = try DatabaseLocation(invocation)
    let store = try location.openOrCreate()
    try Schema.prepare(store, location.name)
    let (summaries, failure) = try store.inTransaction { db in
      try importAll(files, db, skipsBad: invocation.has("skip-bad"))
    }
    try store.close()
    try Output.show(summaries, asJSON: invocation.wantsJSON) { summaries in
      var table = TextTable(
        "FILE", "KIND", "NEW", "CHANGED", "UNCHANGED", "LEFT OUT", numbers: [2, 3, 4, 5])
      for summary in summaries {
        table.add(
          summary.file.split(separator: "/").last.map(String.init) ?? "", summary.kind,
          summary.inserted.grouped, summary.changed.grouped,
          summary.unchanged.grouped, summary.skipped.grouped)
      }
      return table
    }
    if let failure { throw failure }
  }

  /// Imports one file after the other, each in a savepoint, up to the first that fails.
  private static func importAll(
    _ files: [ImportedFile], _ db: Database, skipsBad: Bool
  ) throws -> (summaries: [ImportSummary], failure: Failure?) {
    var summaries: [ImportSummary] = []
    for file in files {
      do {
        summaries.append(try db.inSavepoint { try file.store($0, skipsBad) })
      } catch let failure as Failure where failure.status == .failed {
        return (summaries, failure)
      }
    }
    try City.continueCodes(db)
    try Interruption.check()
    return (summaries, nil)
  }

  /// The files of the package that the program was built in.
  private static func sampleFiles() throws -> [String] {
    var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let paths = ["countries.csv", "world-cities.csv", "china-divisions.csv"]
        .map { folder.appendingPathComponent("Sample/Data/" + $0).path }
      if paths.allSatisfy(FileManager.default.fileExists(atPath:)) { return paths }
    }
    throw Failure(.usage, "the program isn't in its package: name the files to import")
  }
}

/// A file whose header says which records it has.
private struct ImportedFile {
  /// Where it comes among others: cities refer to countries.
  let order: Int
  let store: (Database, _ skipsBad: Bool) throws -> ImportSummary

  init(path: String) throws {
    let file = try CSVFile(path: path)
    switch file.header {
    case Country.header: self.init(0, Country.self, file)
    case City.header: self.init(1, City.self, file)
    case Division.header: self.init(2, Division.self, file)
    default:
      throw Failure(
        "\(path):1: the columns are those of no kind of records; for cities they are "
          + City.header.joined(separator: ","))
    }
  }

  private init<R: ImportedRecord>(_ order: Int, _ type: R.Type, _ file: CSVFile) {
    self.order = order
    store = { db, skipsBad in
      var importer = try Importer<R>(db, file, skipsBad: skipsBad)
      return try importer.run()
    }
  }
}
