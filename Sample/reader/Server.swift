import Foundation
import LarderMacros
import Synchronization

/// The answer to a request.
struct Answer: Sendable {
  var status = "200 OK"
  var body = ""
  var type = "application/json"
}

/// The requests of the service, apart from how they come in.
struct Requests: Sendable {
  let reader: Reader

  func answer(_ method: String, _ path: String, _ query: [String: String]) async -> Answer {
    let token = query["token"] ?? ""
    do {
      switch (method, path) {
      case ("POST", "/accounts"):
        return Answer(body: try await reader.signUp(query["email"] ?? "").token.uuidString)
      case ("POST", "/feeds"): try await reader.subscribe(token, to: query["url"] ?? "")
      case ("POST", "/read"):
        try await reader.markRead(
          token, Int64(query["entry"] ?? "") ?? 0, starred: query["starred"] == "true")
      case ("GET", "/entries"):
        let items =
          if let text = query["search"] {
            try await reader.search(text)
          } else { try await reader.unread(token) }
        return try json(items)
      case ("GET", "/counts"): return try json(await reader.access.read(Reader.counts))
      case ("GET", "/health"):
        let isReady = await reader.access.isReady(within: .seconds(1))
        return isReady ? Answer(body: "ready") : Answer(status: "503 Service Unavailable")
      case ("GET", "/metrics"):
        let text = reader.access.statistics.prometheusText(labels: ["database": "reader"])
        return Answer(body: text, type: "text/plain; version=0.0.4")
      default: return Answer(status: "404 Not Found")
      }
      return Answer(body: "ok")
    } catch ReaderError.notSignedIn {
      return Answer(status: "401 Unauthorized")
    } catch let error as ReaderError {
      return Answer(status: "409 Conflict", body: "\(error)")
    } catch {
      say("error: \(error)")
      return Answer(status: "500 Internal Server Error")
    }
  }

  private func json(_ value: some Encodable) throws -> Answer {
    Answer(body: String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
  }
}

/// A server of HTTP for a proxy or a probe on the same machine: one request for each connection.
final class Server: Sendable {
  private let socket: Int32
  let port: UInt16

  /// Listens on the loopback interface; on all of them with `isOpen`, as in a container.
  init(port: UInt16, isOpen: Bool = false) throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.socket = socket
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = isOpen ? 0 : UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(socket, pointer, length) == 0 && listen(socket, 64) == 0
          && getsockname(socket, pointer, &length) == 0
      }
    }
    guard listens else { throw CocoaError(.fileWriteNoPermission) }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Answers requests until `close` is called.
  func run(_ requests: Requests) {
    Thread.detachNewThread { [socket] in
      while case let connection = accept(socket, nil, nil), connection >= 0 {
        Task.detached {
          await Self.answer(connection, requests)
          Glibc.close(connection)
        }
      }
    }
  }

  func close() {
    shutdown(socket, Int32(SHUT_RDWR))
    Glibc.close(socket)
  }

  private static func answer(_ connection: Int32, _ requests: Requests) async {
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(
      connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = recv(connection, &bytes, bytes.count, 0)
    guard count > 0 else { return }
    let line = String(decoding: bytes[..<count], as: UTF8.self).prefix { !$0.isNewline }
    let words = line.split(separator: " ").map(String.init)
    var answer = Answer(status: "400 Bad Request")
    if words.count == 3, let url = URLComponents(string: words[1]) {
      let query = (url.queryItems ?? []).map { ($0.name, $0.value ?? "") }
      answer = await requests.answer(
        words[0], url.path, Dictionary(query, uniquingKeysWith: { $1 }))
    }
    let head = """
      HTTP/1.1 \(answer.status)\r
      Content-Type: \(answer.type)\r
      Content-Length: \(answer.body.utf8.count)\r
      Connection: close\r
      \r

      """
    let text = Array((head + answer.body).utf8)
    var sent = 0
    while sent < text.count {
      let part = text[sent...].withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard part > 0 else { return }
      sent += part
    }
  }
}
