extension AccessStatistics {
  /// The statistics in [Prometheus's text format](https://prometheus.io/docs/instrumenting/exposition_formats/).
  /// Times are in seconds.
  ///
  /// ```swift
  /// response.body = pool.statistics.prometheusText(labels: ["database": "cities"])
  /// ```
  ///
  /// - Parameter labels: names and values that each line gets. Characters that a name can't have become `_`.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    Self.prometheusText([(labels, self)])
  }

  /// The statistics of several databases in one text, with the labels of each, which have to differ.
  public static func prometheusText(
    _ databases: [(labels: [String: String], statistics: AccessStatistics)]
  ) -> String {
    var text = PrometheusText()
    for (labels, statistics) in databases {
      text.begin(labels)
      statistics.write(to: &text)
    }
    return text.text
  }

  private func write(to text: inout PrometheusText) {
    text.add("transactions", .counter, "Scopes that ran on the writer.", transactions)
    text.add("failures", .counter, "Errors thrown to callers.", failures)
    text.add("refusals", .counter, "Scopes that waited longer than scopeTimeout.", refusals)
    text.add("retries", .counter, "Transactions that were tried again.", retries)
    text.add("waits", .counter, "Scopes that waited for the writer.", waits)
    text.add("wait_seconds", .counter, "Time waited for the writer.", waited)
    text.add("wait_longest_seconds", .gauge, "Longest wait for the writer.", longestWait)
    text.add("waiting", .gauge, "Callers that wait for the writer now.", waiting)
    text.add("wait_duration_seconds", "Waits for the writer.", [(nil, wait)])
    text.add("commit", "COMMITs", commit)
    text.add("sync", "Shared syncs of the log", sync)
    text.add("sync_wait", "Waits for shared syncs", syncWait)
    text.add("checkpoint", "Checkpoints", checkpoint)
    if statements.count > 0 {
      text.add("statement_duration_seconds", "Statements of scopes.", [(nil, statements)])
    }
    if !calls.isEmpty {
      text.add(
        "call_duration_seconds", "Calls of scopes by label.",
        calls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
    text.add("largest_group", .gauge, "Most commits that shared a sync.", largestGroup)
    text.add("log_frames", .gauge, "Frames in the write-ahead log.", logFrames)
    text.add("pending_frames", .gauge, "Frames left by the last checkpoint.", pendingFrames)
    text.add("readers_busy", .gauge, "Connections for reading in use.", busyReaders)
    text.add("readers_idle", .gauge, "Connections for reading that are idle.", idleReaders)
    text.add(
      "oldest_read_seconds", .gauge, "Age of the oldest running read; 0 for none.",
      oldestReaderAge ?? .zero)
    text.add("writer_held_seconds", .gauge, "Time that a scope has had the writer.", writer)
    text.add("log_pinned_seconds", .gauge, "Time that somebody has kept the log.", pinned)
    text.add("copies", .gauge, "Copies and replications at work.", copies.count)
    text.add(
      "broken", .gauge, "1 if writes throw until the database is opened anew.", error == nil ? 0 : 1
    )
    text.add("memory_bytes", .gauge, "Memory of the connections.", bytes)
    if let freeBytes {
      text.add("volume_free_bytes", .gauge, "Space that is free beside the file.", freeBytes)
    }
  }
}

/// Writes metrics in Prometheus's text format, all lines of a metric together.
package struct PrometheusText {
  private var metrics: [Metric] = []
  private var indexes: [String: Int] = [:]
  private var labels: [(name: String, value: String)] = []

  private struct Metric {
    let description: String
    var lines = ""
  }

  package enum Kind: String {
    case counter, gauge, histogram
  }

  package init() {}

  package var text: String { metrics.map { $0.description + $0.lines }.joined() }

  /// Begins the lines of a database.
  package mutating func begin(_ labels: [String: String]) {
    self.labels = labels.sorted { $0.key < $1.key }.map {
      (Self.name($0.key), Self.escaped($0.value, quotes: true))
    }
  }

  /// - Parameter server: the server that the line is about; nil for the database as a whole.
  package mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ value: Int, server: String? = nil
  ) {
    add(name, kind, help, "\(value)", Self.label("server", server))
  }

  package mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ value: Duration, server: String? = nil
  ) {
    add(name, kind, help, "\(value / .seconds(1))", Self.label("server", server))
  }

  private static func label(_ name: String, _ value: String?) -> [(name: String, value: String)] {
    value.map { [(name, escaped($0, quotes: true))] } ?? []
  }

  /// Writes who holds something as a label; 0 without one if nobody does.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ holder: AccessStatistics.Holder?
  ) {
    add(
      name, kind, help, "\((holder?.duration ?? .zero) / .seconds(1))",
      Self.label("holder", holder?.label))
  }

  mutating func add(_ name: String, _ subject: String, _ timing: AccessStatistics.Timing) {
    add("\(name)s", .counter, "\(subject): how many.", timing.count)
    add("\(name)_seconds", .counter, "\(subject): total time.", timing.total)
    add("\(name)_longest_seconds", .gauge, "\(subject): longest.", timing.longest)
    add("\(name)_last_seconds", .gauge, "\(subject): the last one.", timing.duration)
    add(
      "\(name)_running_seconds", .gauge, "\(subject): since the running one began; 0 for none.",
      timing.running ?? .zero)
    add("\(name)_duration_seconds", "\(subject): how many took how long.", [(nil, timing)])
  }

  /// Writes histograms, of which each may have a label of its own.
  mutating func add(
    _ name: String, _ help: String, _ timings: [(call: String?, AccessStatistics.Timing)]
  ) {
    let limits = Histogram.limits.map { "\(Double($0) / 1e9)" } + ["+Inf"]
    for (call, timing) in timings {
      let call = Self.label("call", call)
      var sum = 0
      for (index, limit) in limits.enumerated() {
        // The last one is the count, even if one was added between the two readings.
        sum += timing.histogram.isEmpty ? 0 : timing.histogram[index]
        add(name, .histogram, help, "\(sum)", call + [("le", limit)], suffix: "_bucket")
      }
      add(name, .histogram, help, "\(timing.total / .seconds(1))", call, suffix: "_sum")
      add(name, .histogram, help, "\(sum)", call, suffix: "_count")
    }
  }

  private mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ value: String,
    _ extra: [(name: String, value: String)] = [], suffix: String = ""
  ) {
    let name = "larder_\(name)" + (kind == .counter ? "_total" : "")
    let index = indexes[name] ?? metrics.count
    if index == metrics.count {
      indexes[name] = index
      let help = Self.escaped(help, quotes: false)
      metrics.append(Metric(description: "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"))
    }
    let all = (labels.filter { label in !extra.contains { $0.name == label.name } } + extra)
      .map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
    metrics[index].lines += name + suffix + (all.isEmpty ? "" : "{\(all)}") + " \(value)\n"
  }

  private static func name(_ text: String) -> String {
    let bytes = text.utf8.map {
      $0 < 0x80 && $0.isSQLWord && $0 != UInt8(ascii: "$") ? $0 : UInt8(ascii: "_")
    }
    let name = String(decoding: bytes, as: UTF8.self)
    return name.first.map { $0.isNumber } == false ? name : "_" + name
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
