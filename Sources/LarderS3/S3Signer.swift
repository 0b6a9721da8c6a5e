import CCrypto
import Foundation
import FoundationNetworking
import Glibc
import LarderSQLite

/// Signs requests to S3, by
/// [signatures version 4](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
///
/// A class without a mirror, so that nobody prints the secret by accident.
final class S3Signer: Sendable, CustomReflectable, CustomStringConvertible {
  private let accessKey: String
  private let secretKey: String
  private let token: String?
  private let region: String

  init(accessKey: String, secretKey: String, token: String?, region: String) {
    (self.accessKey, self.secretKey, self.token, self.region) = (
      accessKey, secretKey, token, region
    )
  }

  var description: String { "S3Signer" }
  var customMirror: Mirror { Mirror(self, children: [:]) }

  /// Adds the headers that sign a request.
  ///
  /// - Parameters:
  ///   - request: the request, with its method and body.
  ///   - host: the host and, unless it is the scheme's own, the port.
  ///   - path: the encoded path.
  ///   - query: the parameters, unencoded.
  ///   - time: the seconds since 1970.
  func sign(
    _ request: inout URLRequest, host: String, path: String, query: [(String, String)],
    at time: Int = Int(Date().timeIntervalSince1970)
  ) throws {
    let (date, moment) = Self.dates(time)
    let digest = try Self.hexadecimal(Self.sha256(request.httpBody ?? Data()))
    var headers = [
      ("host", host), ("x-amz-content-sha256", digest), ("x-amz-date", moment),
    ]
    if let token { headers.append(("x-amz-security-token", token)) }
    let names = headers.map(\.0).joined(separator: ";")
    let canonical = [
      request.httpMethod ?? "GET", path, Self.encoded(query),
      headers.map { "\($0.0):\($0.1)\n" }.joined(), names, digest,
    ].joined(separator: "\n")
    let scope = "\(date)/\(region)/s3/aws4_request"
    let text = [
      "AWS4-HMAC-SHA256", moment, scope,
      try Self.hexadecimal(Self.sha256(Data(canonical.utf8))),
    ].joined(separator: "\n")
    var key = Data("AWS4\(secretKey)".utf8)
    for part in [date, region, "s3", "aws4_request", text] {
      key = try Self.hmac(key, Data(part.utf8))
    }
    for (name, value) in headers where name != "host" {
      request.setValue(value, forHTTPHeaderField: name)
    }
    request.setValue(
      "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
        + "Signature=\(Self.hexadecimal(key))",
      forHTTPHeaderField: "Authorization")
  }

  /// The parameters as the signature and the URL have them: sorted by name.
  static func encoded(_ query: [(String, String)]) -> String {
    query.map { (encoded($0.0), encoded($0.1)) }.sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  /// A text in which all but letters, digits and `-._~` are encoded, and, if told so, `/`.
  static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
        result.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x2f where keepsSlashes: result += "/"
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  private static func dates(_ seconds: Int) -> (date: String, moment: String) {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : String(number) }
    let date = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
    return (date, "\(date)T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z")
  }

  // MARK: Cryptography

  private static func sha256(_ data: Data) throws -> Data {
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = data.withUnsafeBytes { larder_sha256($0.baseAddress, $0.count, &digest) }
    guard isDone == 1 else { throw error }
    return Data(digest)
  }

  private static func hmac(_ key: Data, _ data: Data) throws -> Data {
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = key.withUnsafeBytes { key in
      data.withUnsafeBytes {
        larder_hmac_sha256(key.baseAddress, key.count, $0.baseAddress, $0.count, &digest)
      }
    }
    guard isDone == 1 else { throw error }
    return Data(digest)
  }

  private static var error: DatabaseError {
    DatabaseError(.internal, "OpenSSL can't compute a signature")
  }

  private static func hexadecimal(_ data: Data) -> String {
    data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
