// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of swift-distributed-tracing that the documentation uses, with its signatures.

public struct ServiceContext: Sendable {
  @TaskLocal public static var current: ServiceContext?
  public static var topLevel: ServiceContext { ServiceContext() }
}

public enum SpanKind: Sendable { case server, client, producer, consumer, `internal` }

public enum SpanAttribute: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case int64(Int64), string(String)
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .int64(Int64(value)) }
}

public protocol SpanAttributeConvertible: Sendable { func toSpanAttribute() -> SpanAttribute }
extension String: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { .string(self) }
}
extension Int: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { .int64(Int64(self)) }
}

public struct SpanAttributes: Sendable {
  public subscript<T: SpanAttributeConvertible>(_ name: String) -> T? {
    get { nil }
    set {}
  }
}

public protocol TracerInstant: Sendable, Hashable { var nanosecondsSinceEpoch: UInt64 { get } }

public struct SpanInstant: TracerInstant {
  public let nanosecondsSinceEpoch: UInt64
}

public protocol Span: Sendable {
  var attributes: SpanAttributes { get nonmutating set }
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant)
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

extension Span {
  public func recordError(_ error: any Error) {}
}

public protocol Tracer: Sendable {
  associatedtype Span: Tracing.Span
  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> Span
  func startAnySpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> any Tracing.Span
}

public enum InstrumentationSystem {
  public static var tracer: any Tracer { fatalError("no program runs this") }
}
