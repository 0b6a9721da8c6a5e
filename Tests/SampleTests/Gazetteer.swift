import Foundation
import Larder
import TestSupport
import Testing

/// A folder in which a test runs the built program as a user would.
final class Gazetteer {
  private let scratch: ScratchFolder
  var folder: String { scratch.path }
  /// The path of the database file, or the address of the server's database.
  var database: String { server ?? file("gazetteer.db") }
  private let server: String?

  /// The output and exit status of a run.
  struct Result {
    let status: Int32
    let output: String
    let errors: String
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// - Parameter server: the address of a server's database; nil for a file.
  init(server: String? = nil) throws {
    self.server = server
    scratch = try ScratchFolder()
  }

  /// A folder in which the three small files are already imported.
  static func imported() throws -> Gazetteer {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    let result = try gazetteer.run("import", "countries.csv", "cities.csv", "divisions.csv")
    try #require(result.status == 0, "\(result.errors)")
    return gazetteer
  }

  /// A folder in which the sample's own files are imported.
  static func importedOwnFiles() throws -> Gazetteer {
    let gazetteer = try Gazetteer()
    let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sample/Data").standardized
    let files = ["countries", "world-cities", "china-divisions"].map {
      data.appendingPathComponent("\($0).csv").path
    }
    let result = try gazetteer.run("import", files[0], files[1], files[2])
    try #require(result.status == 0, "\(result.errors)")
    return gazetteer
  }

  func file(_ name: String) -> String { scratch.file(name) }

  func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

  func write(_ name: String, _ data: Data) throws {
    try data.write(to: URL(fileURLWithPath: file(name)))
  }

  /// Runs the program with the folder's database, and waits for its end.
  func run(_ arguments: String...) throws -> Result { try start(arguments).end() }

  /// The JSON objects that a command prints.
  func objects(_ arguments: String...) throws -> [[String: JSONValue]] {
    let result = try start(arguments + ["--json"]).end()
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode([[String: JSONValue]].self, from: Data(result.output.utf8))
  }

  func start(_ arguments: [String]) throws -> Run {
    try Run(
      Array(arguments.prefix(1)) + ["--database", database] + arguments.dropFirst(), in: self)
  }

  func open() throws -> Database { try Database(path: database) }

  /// The number of rows of a table.
  func count(_ table: String) throws -> Int {
    try open().value("SELECT count(*) FROM \(identifier: table)", as: Int.self) ?? 0
  }
}

/// A JSON value, with the cases that the tests need.
indirect enum JSONValue: Decodable, Hashable {
  case null
  case text(String)
  case number(Double)
  case list([String])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([String].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }
}

/// A process that runs the program. Its output goes to files, so that nothing has to read it while it runs.
final class Run {
  private let process: ChildProcess
  private let output: String
  private let errors: String
  /// Retained, so that the folder exists as long as the run.
  private let gazetteer: Gazetteer

  init(_ arguments: [String], in gazetteer: Gazetteer, isOutputFull: Bool = false) throws {
    let name = UUID().uuidString
    self.gazetteer = gazetteer
    output = gazetteer.file(name + ".out")
    errors = gazetteer.file(name + ".err")
    process = try ChildProcess(
      ChildProcess.built("gazetteer"), arguments, in: gazetteer.folder, input: .nothing,
      output: .file(isOutputFull ? "/dev/full" : output), errors: .file(errors))
  }

  func interrupt() { process.send(SIGINT) }

  /// Whether the program has written this text to its standard error.
  func hasSaid(_ text: String) -> Bool {
    (try? String(contentsOfFile: errors, encoding: .utf8))?.contains(text) ?? false
  }

  /// Opens a pipe as soon as the program reads it. Throws if the program ends before.
  func openForWriting(_ pipe: String) throws -> FileHandle {
    while true {
      let descriptor = open(pipe, O_WRONLY | O_NONBLOCK)
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, O_WRONLY)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      }
      guard !process.hasEnded else { throw Ended(result: try end()) }
      sched_yield()
    }
  }

  /// The error that the program ended too early.
  struct Ended: Error {
    let result: Gazetteer.Result
  }

  /// Waits for the program's end. A signal that ended it gives the status 128 plus the signal's number.
  func end() throws -> Gazetteer.Result {
    let status = process.end()
    return Gazetteer.Result(
      status: status, output: try text(output), errors: try text(errors))
  }

  /// A file's text, or an empty text if there is no file.
  private func text(_ path: String) throws -> String {
    guard access(path, F_OK) == 0 else { return "" }
    return String(decoding: try ScratchFolder.contents(of: path), as: UTF8.self)
  }
}
