import Foundation
import Larder
import Testing

/// A folder with a small world in it, in which a test runs the built program as a user does.
final class Gazetteer {
  let folder: String
  var database: String { file("gazetteer.db") }

  /// What a run has printed, and how it ended.
  struct Result {
    let status: Int32
    let output: String
    let errors: String
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  init() throws {
    folder = NSTemporaryDirectory() + "/gazetteer-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// One in which the small world is imported already.
  static func imported() throws -> Gazetteer {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    let result = try gazetteer.run("import", "countries.csv", "cities.csv", "divisions.csv")
    try #require(result.status == 0, "\(result.errors)")
    return gazetteer
  }

  func file(_ name: String) -> String { folder + "/" + name }

  func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

  func write(_ name: String, _ data: Data) throws {
    try data.write(to: URL(fileURLWithPath: file(name)))
  }

  /// Runs the program with the folder's database, and waits for its end.
  func run(_ arguments: String...) throws -> Result { try start(arguments).end() }

  /// The objects that a command prints.
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

/// A value of JSON as far as the tests look at it.
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

/// A process that runs the program. Its output goes to files, so that nothing has to read it meanwhile.
final class Run {
  private var identifier: pid_t = 0
  private var hasEnded = false
  private let output: String
  private let errors: String
  /// Its folder stays as long as the run.
  private let gazetteer: Gazetteer

  init(_ arguments: [String], in gazetteer: Gazetteer, isOutputFull: Bool = false) throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("gazetteer").path
    let name = UUID().uuidString
    self.gazetteer = gazetteer
    output = gazetteer.file(name + ".out")
    errors = gazetteer.file(name + ".err")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
    // Threads of a test may hold signals back, which the process would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // The shell goes to the folder: a process that is spawned begins where its parent is.
    let script = "cd \"$0\" && exec \"$@\"" + (isOutputFull ? " > /dev/full" : "")
    let shell = ["/bin/sh", "-c", script, gazetteer.folder, program]
    var words = (shell + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    try #require(posix_spawn(&identifier, shell[0], &actions, &attributes, &words, environ) == 0)
  }

  deinit {
    guard !hasEnded else { return }
    kill(identifier, SIGKILL)
    waitpid(identifier, nil, 0)
  }

  func interrupt() { kill(identifier, SIGINT) }

  /// Opens a pipe that the program reads, as soon as it does. Throws if it ends before.
  func openForWriting(_ pipe: String) throws -> FileHandle {
    while true {
      let descriptor = open(pipe, O_WRONLY | O_NONBLOCK)
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, O_WRONLY)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      }
      var status = siginfo_t()
      waitid(P_PID, id_t(identifier), &status, WEXITED | WNOHANG | WNOWAIT)
      guard status.si_signo == 0 else { throw Ended(result: try end()) }
      sched_yield()
    }
  }

  /// The program ended where it should have gone on.
  struct Ended: Error {
    let result: Gazetteer.Result
  }

  /// Waits for its end. A signal that ended it counts as 128 and its number.
  func end() throws -> Gazetteer.Result {
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) < 0 && errno == EINTR {}
    hasEnded = true
    return Gazetteer.Result(
      status: raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f),
      output: try text(output),
      errors: try text(errors))
  }

  /// What is in a file. `String(contentsOfFile:)` leaks 4 KiB for each empty one, which the address
  /// sanitizer reports.
  private func text(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
  }
}
