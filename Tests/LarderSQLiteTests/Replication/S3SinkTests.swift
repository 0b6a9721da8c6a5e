import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderS3
@testable import LarderSQLite

/// [moto](https://docs.getmoto.org), a server in Python that answers as S3 does.
private final class MotoServer: Sendable {
  let endpoint: String
  private let process: Process

  /// The server's program: that of `LARDER_MOTO`, or one on the path; nil for none.
  static let program: String? = {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["LARDER_MOTO"] { return path }
    return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/moto_server" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// The server chooses its port by itself and prints it: one that is chosen here may be somebody's by the time that the
  /// server binds it.
  init() throws {
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: Self.program ?? "")
    process.arguments = ["-H", "127.0.0.1", "-p", "0"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = output
    try process.run()
    var printed = ""
    var found: String?
    while found == nil {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else {
        throw DatabaseError(.ioError, "the server doesn't begin: \(printed)")
      }
      printed += String(decoding: more, as: UTF8.self)
      found = (try? /http:\/\/127\.0\.0\.1:[0-9]+(?=\s)/.firstMatch(in: printed)).map {
        String($0.output)
      }
    }
    endpoint = found ?? ""
    self.process = process
    // Each request is a line: a pipe that nobody reads would fill up.
    output.fileHandleForReading.readabilityHandler = { file in
      if file.availableData.isEmpty { file.readabilityHandler = nil }
    }
    try createBucket()
  }

  private func createBucket() throws {
    var request = URLRequest(url: try #require(URL(string: endpoint + "/backup")))
    request.httpMethod = "PUT"
    guard try Answer.of(request, .shared).get().status == 200 else {
      throw DatabaseError(.ioError, "there is no bucket")
    }
  }

  /// Ends the server. It is called explicitly, since the object may be gone after its last use.
  func stop() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func sink(
    _ folder: String, bucket: String = "backup", secret: String = "hidden-key"
  ) throws -> S3Sink {
    try S3Sink(
      bucket: bucket, folder: folder, endpoint: endpoint, accessKey: "identifier",
      secretKey: secret, timeout: .seconds(10))
  }
}

@Suite("S3 as the sink of a log", .promptly, .serialized)
struct S3SinkTests {
  @Test(
    "Objects are put once, got, listed in pages and removed",
    .enabled(if: MotoServer.program != nil, "moto isn't installed"))
  func objects() throws {
    let server = try MotoServer()
    defer { server.stop() }
    var sink = try server.sink("deep/folder")
    sink.pageSize = 4
    #expect(try sink.get("a/b-1.c_2") == nil)
    #expect(try sink.put("a/b-1.c_2", [1, 2, 3]))
    #expect(try !sink.put("a/b-1.c_2", [4]))
    #expect(try sink.get("a/b-1.c_2") == [1, 2, 3])
    #expect(try sink.put("empty", []))
    #expect(try sink.get("empty") == [])
    let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try sink.put("large", large))
    #expect(try sink.get("large") == large)
    for number in 0..<15 { #expect(try sink.put("many/\(number)", [7])) }
    #expect(try sink.list("many/").count == 15)
    #expect(try sink.list("many/1").count == 6)
    let all = Dictionary(uniqueKeysWithValues: try sink.list("").map { ($0.name, $0.bytes) })
    #expect(all["large"] == 3_000_000 && all["a/b-1.c_2"] == 3)
    #expect(try server.sink("").list("deep/").count == all.count)
    try sink.remove("empty")
    try sink.remove("empty")
    #expect(try sink.get("empty") == nil)
    // Owners get numbers of their own. They ask one after the other: whether two that ask at a time get the same is the
    // store's promise, and moto looks for an object and puts it in two steps.
    #expect(try (1...6).map { _ in try sink.lease("cities/", for: "me") } == Array(1...6))
  }

  @Test(
    "A database is shipped to it, restored from it and followed in it",
    .enabled(if: MotoServer.program != nil, "moto isn't installed"))
  func replication() throws {
    let server = try MotoServer()
    defer { server.stop() }
    let folder = try ScratchFolder()
    let sink = try server.sink("logs")
    let pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { try createCities(in: $0) }
    let log = try pool.replicate(to: sink, every: .milliseconds(20))
    try log.ship()
    let copy = try DatabaseFollower(
      of: sink, to: folder.file("copy.db"), every: .milliseconds(20))
    var position = try log.ship()
    for number in 0..<10 {
      try log.inTransaction { db in
        _ = try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
      }
      position = try log.ship()
    }
    #expect(try copy.read(notBefore: position) { try $0.cityCount() } == 14)
    try copy.close()
    try pool.close()
    try ReplicatedDatabase.restore(from: sink, to: folder.file("restored.db"))
    #expect(try Database(path: folder.file("restored.db")).cityCount() == 14)
  }

  @Test(
    "Errors name the request and S3's code, and never the keys",
    .enabled(if: MotoServer.program != nil, "moto isn't installed"))
  func errors() throws {
    let server = try MotoServer()
    defer { server.stop() }
    let sink = try server.sink("", bucket: "nowhere")
    for call in [
      { _ = try sink.get("a") }, { _ = try sink.list("") }, { _ = try sink.put("a", []) },
    ] as [() throws -> Void] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.message.contains("NoSuchBucket") == true, "\(String(describing: error))")
      #expect(error.map { "\($0)".contains("hidden") } == false)
    }
  }

  @Test("Nothing that prints a sink has its keys, and a sink that can't be reached is an error")
  func secrets() throws {
    let sink = try S3Sink(
      bucket: "backup", endpoint: "http://127.0.0.1:1", accessKey: "visible-id",
      secretKey: "hidden-key", token: "hidden-token")
    var text = "\(sink) \(String(reflecting: sink))"
    dump(sink, to: &text)
    let error = #expect(throws: DatabaseError.self) { try sink.get("a") }
    text += String(describing: error)
    #expect(!text.contains("hidden") && !text.contains("visible"))
    #expect(throws: DatabaseError.self) {
      try S3Sink(bucket: "a", endpoint: "ftp://a", accessKey: "a", secretKey: "b")
    }
    #expect(throws: DatabaseError.self) { try S3Sink(bucket: "a", accessKey: "", secretKey: "b") }
    #expect(throws: DatabaseError.self) { try S3Sink(bucket: "", accessKey: "a", secretKey: "b") }
  }

  /// The example of
  /// [AWS's documentation](https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html), whose
  /// request lists a bucket.
  @Test("A signature is that of AWS's example")
  func signature() throws {
    let signer = S3Signer(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      token: nil, region: "us-east-1")
    let url = try #require(
      URL(string: "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"))
    var request = URLRequest(url: url)
    try signer.sign(
      &request, host: "examplebucket.s3.amazonaws.com", path: "/",
      query: [("prefix", "J"), ("max-keys", "2")], at: 1_369_353_600)
    let header = request.value(forHTTPHeaderField: "Authorization")
    #expect(
      header?.hasSuffix(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") == true)
  }
}
