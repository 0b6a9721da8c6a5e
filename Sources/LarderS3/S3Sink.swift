import Dispatch
import Foundation
import FoundationNetworking
import LarderReplication
import LarderSQLite
import Synchronization

/// A bucket of an S3-compatible store that a log is shipped to.
///
/// ```swift
/// let sink = try S3Sink(bucket: "backup", region: "eu-central-1")
/// let log = try pool.replicate(to: sink)
/// ```
///
/// Objects are put under the condition that there is none of that name (`If-None-Match: *`), so that two owners
/// never overwrite each other's. A store that doesn't know the condition answers that it isn't implemented; then
/// the name is looked up before.
///
/// Requests are signed ([version 4](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html)) and
/// tried again with back-off if the store can't be reached or is overloaded. No error, and no description, has
/// the keys.
public struct S3Sink: LogSink {
  private let endpoint: String
  private let host: String
  private let root: String
  private let folder: String
  private let signer: S3Signer
  private let session: URLSession
  /// How many objects a page of a list has at most; nil for the store's limit.
  var pageSize: Int?

  /// How often a request is tried.
  private static let attempts = 4

  /// A bucket, which has to exist.
  ///
  /// - Parameters:
  ///   - bucket: its name.
  ///   - folder: what all names of objects begin with; empty for nothing.
  ///   - region: the region, which the signature has.
  ///   - endpoint: the store's URL, such as `https://minio.example.org:9000`; nil for that of AWS.
  ///   - accessKey: the key's identifier; nil for the environment's `AWS_ACCESS_KEY_ID`.
  ///   - secretKey: the key; nil for the environment's `AWS_SECRET_ACCESS_KEY`.
  ///   - token: the token of temporary keys; nil for the environment's `AWS_SESSION_TOKEN`, if that has the keys.
  ///   - timeout: how long a request may stand still.
  /// - Throws: `ResultCode.misuse` without keys, or for an endpoint that is no URL of HTTP.
  public init(
    bucket: String, folder: String = "", region: String = "us-east-1", endpoint: String? = nil,
    accessKey: String? = nil, secretKey: String? = nil, token: String? = nil,
    timeout: Duration = .seconds(30)
  ) throws {
    let environment = ProcessInfo.processInfo.environment
    guard let id = accessKey ?? environment["AWS_ACCESS_KEY_ID"],
      let secret = secretKey ?? environment["AWS_SECRET_ACCESS_KEY"], !id.isEmpty, !secret.isEmpty
    else {
      throw DatabaseError(.misuse, "S3 takes an access key and a secret key")
    }
    var endpoint = endpoint ?? "https://s3.\(region).amazonaws.com"
    while endpoint.hasSuffix("/") { endpoint.removeLast() }
    guard let url = URL(string: endpoint), let name = url.host,
      url.scheme == "http" || url.scheme == "https", url.path.isEmpty, url.user == nil
    else {
      throw DatabaseError(.misuse, "the endpoint of S3 has to be a URL of a host")
    }
    guard !bucket.isEmpty, !bucket.contains("/") else {
      throw DatabaseError(.misuse, "“\(bucket)” can't be the name of a bucket")
    }
    self.endpoint = endpoint
    host = url.port.map { "\(name):\($0)" } ?? name
    root = "/" + S3Signer.encoded(bucket)
    self.folder = folder.isEmpty || folder.hasSuffix("/") ? folder : folder + "/"
    signer = S3Signer(
      accessKey: id, secretKey: secret,
      token: token ?? (accessKey == nil ? environment["AWS_SESSION_TOKEN"] : nil), region: region)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = max(1, timeout / .seconds(1))
    configuration.httpMaximumConnectionsPerHost = 8
    configuration.urlCache = nil
    session = URLSession(configuration: configuration)
  }

  /// Puts an object under the condition that there is none of that name.
  public func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    let body = Data(bytes)
    let answer = try send("PUT", name, body: body, headers: ["If-None-Match": "*"])
    switch answer.status {
    case 200..<300: return true
    case 412: return false
    case 501:
      let found = try send("HEAD", name)
      if found.status == 200 { return false }
      let answer = try send("PUT", name, body: body)
      guard (200..<300).contains(answer.status) else { throw answer.error("PUT", name) }
      return true
    default: throw answer.error("PUT", name)
    }
  }

  /// Gets an object.
  public func get(_ name: String) throws -> [UInt8]? {
    let answer = try send("GET", name)
    switch answer.status {
    case 200: return [UInt8](answer.body)
    case 404 where answer.code != "NoSuchBucket": return nil
    default: throw answer.error("GET", name)
    }
  }

  /// Lists objects, as many requests as it takes.
  public func list(_ prefix: String) throws -> [LogObject] {
    var objects: [LogObject] = []
    var next: String?
    repeat {
      var query = [("list-type", "2"), ("prefix", folder + prefix)]
      if let pageSize { query.append(("max-keys", String(pageSize))) }
      if let next { query.append(("continuation-token", next)) }
      let answer = try send("GET", nil, query: query)
      guard answer.status == 200 else { throw answer.error("the list of", prefix) }
      let text = String(decoding: answer.body, as: UTF8.self)
      guard text.contains("</ListBucketResult>") else {
        throw DatabaseError(.ioError, "S3: half an answer to the list of \(prefix)")
      }
      for element in Answer.elements("Contents", in: text) {
        guard let key = Answer.elements("Key", in: element).first.map(Answer.unescaped),
          let size = Answer.elements("Size", in: element).first.flatMap({ Int($0) }),
          key.hasPrefix(folder)
        else { continue }
        objects.append(LogObject(name: String(key.dropFirst(folder.count)), bytes: size))
      }
      next = Answer.elements("NextContinuationToken", in: text).first.map(Answer.unescaped)
    } while next != nil
    return objects
  }

  /// Removes an object.
  public func remove(_ name: String) throws {
    let answer = try send("DELETE", name)
    guard (200..<300).contains(answer.status) || answer.status == 404 else {
      throw answer.error("DELETE", name)
    }
  }

  // MARK: Requests

  /// Sends a request, again and again if the store doesn't answer or is overloaded.
  private func send(
    _ method: String, _ name: String?, query: [(String, String)] = [], body: Data? = nil,
    headers: [String: String] = [:]
  ) throws -> Answer {
    let path = root + (name.map { "/" + S3Signer.encoded(folder + $0, keepsSlashes: true) } ?? "/")
    let parameters = S3Signer.encoded(query)
    guard let url = URL(string: endpoint + path + (parameters.isEmpty ? "" : "?" + parameters))
    else { throw DatabaseError(.misuse, "“\(name ?? "")” can't be the name of an object") }
    var attempt = 0
    while true {
      attempt += 1
      var request = URLRequest(url: url)
      request.httpMethod = method
      request.httpBody = body
      for (field, value) in headers { request.setValue(value, forHTTPHeaderField: field) }
      try signer.sign(&request, host: host, path: path, query: query)
      let result = Answer.of(request, session)
      let isLast = attempt == Self.attempts
      switch result {
      case .success(let answer) where isLast || !answer.isPassing: return answer
      case .failure(let error) where isLast:
        throw DatabaseError(.ioError, "S3: \(method) \(name ?? ""): \(error.text)")
      default:
        let pause = Double(50 << attempt) * .random(in: 0.5...1)
        usleep(UInt32(pause * 1000))
      }
    }
  }
}

/// The store's answer to a request.
struct Answer: Sendable {
  let status: Int
  let body: Data

  /// A failure to get an answer.
  struct Failure: Error { let text: String }

  /// Whether the request may succeed later.
  var isPassing: Bool { [408, 409, 425, 429, 500, 502, 503, 504].contains(status) }

  /// The error's code, such as `AccessDenied`.
  var code: String? {
    Self.elements("Code", in: String(decoding: body.prefix(4096), as: UTF8.self)).first
  }

  /// The error, with its code only: the rest of the answer may have what was signed.
  func error(_ method: String, _ name: String) -> DatabaseError {
    let code = code.map { ", \($0)" } ?? ""
    return DatabaseError(
      status == 403 || status == 401 ? .permission : .ioError,
      "S3: \(method) \(name): HTTP \(status)\(code)")
  }

  /// Sends a request and waits for all of its answer.
  static func of(_ request: URLRequest, _ session: URLSession) -> Result<Answer, Failure> {
    let outcome = Mutex<Result<Answer, Failure>>(.failure(Failure(text: "no answer")))
    let semaphore = DispatchSemaphore(value: 0)
    let task = session.dataTask(with: request) { data, response, error in
      outcome.withLock { outcome in
        guard let response = response as? HTTPURLResponse, error == nil else {
          let code = (error as? URLError).map { "error \($0.code.rawValue) of URLSession" }
          outcome = .failure(Failure(text: code ?? "no answer"))
          return
        }
        let body = data ?? Data()
        let length = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }
        if let length, length != body.count, request.httpMethod != "HEAD" {
          outcome = .failure(Failure(text: "\(body.count) of \(length) bytes"))
        } else {
          outcome = .success(Answer(status: response.statusCode, body: body))
        }
      }
      semaphore.signal()
    }
    task.resume()
    semaphore.wait()
    return outcome.withLock { $0 }
  }

  /// The contents of all elements of a name that have no attributes.
  static func elements(_ name: String, in text: some StringProtocol) -> [String] {
    var found: [String] = []
    var rest = Substring(text)
    while let start = rest.range(of: "<\(name)>"),
      let end = rest.range(of: "</\(name)>", range: start.upperBound..<rest.endIndex)
    {
      found.append(String(rest[start.upperBound..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }

  static func unescaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&quot;", with: "\"").replacingOccurrences(of: "&lt;", with: "<")
      .replacingOccurrences(of: "&gt;", with: ">").replacingOccurrences(of: "&#43;", with: "+")
      .replacingOccurrences(of: "&amp;", with: "&")
  }
}
