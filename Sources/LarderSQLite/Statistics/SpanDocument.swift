import FoundationEssentials

// Spans as OpenTelemetry's documents.

extension ScopeSpan {
  /// The request that sends spans to an OpenTelemetry collector, as
  /// [OTLP/JSON](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): POST it to the path
  /// `/v1/traces` with the content type `application/json`.
  ///
  /// Each scope is a span of the kind *client* with children: `wait`, `begin`, one for each text of a
  /// statement, from its first beginning to its last end, `commit` and `sync`.
  ///
  /// - Parameters:
  ///   - spans: the spans of scopes, in any order.
  ///   - service: the program's name, for the attribute `service.name`.
  public static func openTelemetryJSON(_ spans: [ScopeSpan], service: String) -> String {
    let written = spans.flatMap { $0.openTelemetrySpans }.joined(separator: ",")
    return
      "{\"resourceSpans\":[{\"resource\":{\"attributes\":[\(attribute("service.name", service))]},"
      + "\"scopeSpans\":[{\"scope\":{\"name\":\"Larder\"},\"spans\":[\(written)]}]}]}"
  }

  private var openTelemetrySpans: [String] {
    let trace = TraceContext(traceParent) ?? TraceContext()
    let own = TraceContext.hexadecimal(bytes: 8)
    let start = Int((date.timeIntervalSince1970 * 1_000_000).rounded()) * 1_000
    let length = duration.inNanoseconds
    func span(
      _ id: String, below parent: String?, _ name: String, kind: Int, _ begin: Int, _ end: Int,
      _ attributes: [String], _ more: String = ""
    ) -> String {
      let (begin, end) = (min(begin, length), min(max(begin, end), length))
      return "{\"traceId\":\"\(trace.trace)\",\"spanId\":\"\(id)\","
        + (parent.map { "\"parentSpanId\":\"\($0)\"," } ?? "")
        + "\"name\":\(name.quotedJSON),\"kind\":\(kind),"
        + "\"startTimeUnixNano\":\"\(start + begin)\",\"endTimeUnixNano\":\"\(start + end)\","
        + "\"attributes\":[\(attributes.joined(separator: ","))]\(more)}"
    }
    var children: [String] = []
    func addChild(_ name: String, _ begin: Int, _ end: Int, _ attributes: [String] = []) {
      guard end > begin else { return }
      let id = TraceContext.hexadecimal(bytes: 8)
      children.append(span(id, below: own, name, kind: 1, begin, end, attributes))
    }
    let began = (waited + begin).inNanoseconds
    let synced = length - sync.inNanoseconds
    addChild("wait", 0, waited.inNanoseconds)
    addChild("begin", waited.inNanoseconds, began)
    for (text, range) in ranges.sorted(by: { $0.value.lowerBound < $1.value.lowerBound }) {
      let timing = statements[text] ?? .init()
      addChild(
        "statement", range.lowerBound, range.upperBound,
        [
          Self.attribute("db.query.text", text), Self.attribute("larder.count", timing.count),
          Self.attribute("larder.nanoseconds", timing.total.inNanoseconds),
        ])
    }
    addChild("commit", synced - commit.inNanoseconds, synced)
    addChild("sync", synced, length)

    var attributes = [
      Self.attribute("db.system.name", engine.lowercased()),
      Self.attribute("larder.retries", retries),
    ]
    if let path { attributes.append(Self.attribute("db.namespace", path)) }
    var status = ""
    if let error {
      let known = error as? DatabaseError
      attributes.append(
        Self.attribute("error.type", known.map { "\($0.extendedCode)" } ?? "\(type(of: error))"))
      let message = known?.message ?? "\(type(of: error))"
      status = ",\"status\":{\"code\":2,\"message\":\(message.quotedJSON)}"
    }
    let whole = span(own, below: trace.parent, label, kind: 3, 0, length, attributes, status)
    return [whole] + children
  }

  private static func attribute(_ key: String, _ value: String) -> String {
    "{\"key\":\"\(key)\",\"value\":{\"stringValue\":\(value.quotedJSON)}}"
  }

  private static func attribute(_ key: String, _ value: Int) -> String {
    "{\"key\":\"\(key)\",\"value\":{\"intValue\":\"\(value)\"}}"
  }
}

/// The trace that a span belongs to, and the span above it.
private struct TraceContext {
  let trace: String
  let parent: String?

  /// A trace of its own.
  init() {
    trace = Self.hexadecimal(bytes: 16)
    parent = nil
  }

  /// Reads the header `traceparent`: version, trace, parent and flags. Nil for anything else.
  init?(_ header: String?) {
    guard let header else { return nil }
    let parts = header.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, Self.isIdentifier(parts[1], 32), Self.isIdentifier(parts[2], 16) else {
      return nil
    }
    (trace, parent) = (String(parts[1]), String(parts[2]))
  }

  private static func isIdentifier(_ text: Substring, _ length: Int) -> Bool {
    let digits = text.utf8
    return digits.count == length && digits.contains { $0 != UInt8(ascii: "0") }
      && digits.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  /// A random identifier, which isn't zero.
  static func hexadecimal(bytes: Int) -> String {
    (0..<bytes / 8).map { _ in
      let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
