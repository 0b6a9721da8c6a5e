// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of swift-metrics that the documentation uses, with its signatures.

public final class Counter: Sendable {
  public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
  init() {}
  public func increment<DataType: BinaryInteger>(by amount: DataType) {}
}

public final class Gauge: Sendable {
  public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
  init() {}
  public func record<DataType: BinaryFloatingPoint>(_ value: DataType) {}
}

public final class Timer: Sendable {
  public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
  init() {}
  public func recordNanoseconds(_ duration: Int64) {}
}
