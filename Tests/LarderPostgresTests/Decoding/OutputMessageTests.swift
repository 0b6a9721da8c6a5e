import CLibPQ
import LarderSQLite
import TestSupport
import Testing

@testable import LarderPostgres

@Suite("Messages of logical decoding")
struct OutputMessageTests {
  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
  private static func number<N: FixedWidthInteger>(_ number: N) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// A message of a kind, with these parts.
  private static func message(_ kind: Unicode.Scalar, _ parts: [UInt8]...) -> [UInt8] {
    parts.reduce([UInt8(ascii: kind)]) { $0 + $1 }
  }

  private static func row(_ kind: Unicode.Scalar, _ values: [[UInt8]?]) -> [UInt8] {
    var row: [UInt8] = [UInt8(ascii: kind)] + number(Int16(values.count))
    for value in values {
      row.append(UInt8(ascii: value == nil ? "n" : "b"))
      if let value { row += number(Int32(value.count)) + value }
    }
    return row
  }

  private static func column(_ name: String, _ type: UInt32) -> [UInt8] {
    [1] + text(name) + number(type) + number(Int32(-1))
  }

  private static let table = number(UInt32(77))
  private static let oslo: [[UInt8]?] = [number(Int64(1)), Array("Oslo".utf8), nil]
  private static let voss: [[UInt8]?] = [
    number(Int64(1)), Array("Voss".utf8), [0, 1, 0, 0, 0, 0, 0, 2, 0, 7],
  ]
  private static let begin = message("B", number(UInt64(900)), number(Int64(1)), number(UInt32(5)))
  private static let relation = message(
    "R", table, text("public"), text("city"), [UInt8(ascii: "f")], number(Int16(3)),
    column("id", 20), column("name", 25), column("price", 1700))
  private static let insert = message("I", table, row("N", oslo))
  private static let commit = message(
    "C", [0], number(UInt64(900)), number(UInt64(950)), number(Int64(1)))

  private static let messages: [[UInt8]] = [
    begin, relation, insert, message("U", table, row("O", oslo), row("N", voss)),
    message("D", table, row("O", voss)), message("O", number(UInt64(3)), text("origin")),
    message("Y", number(UInt32(9)), text("public"), text("mood")),
    message("M", [1], number(UInt64(3)), text("ours"), number(Int32(2)), [1, 2]), commit, begin,
    message("T", number(Int32(1)), [0], table), commit,
  ]

  private func assembly() -> TransactionAssembly {
    TransactionAssembly(of: [77], known: [:]) { $0.map { ServerType(builtIn: $0) } }
  }

  @Test("Messages become transactions with rows before and after")
  func transactions() throws {
    var assembly = assembly()
    var arrivals: [TransactionAssembly.Arrival] = []
    for message in Self.messages {
      let arrival = try message.withUnsafeBytes { try assembly.take(OutputMessage($0)) }
      if let arrival { arrivals.append(arrival) }
    }
    #expect(arrivals.map(\.end) == [950, 950])
    #expect(arrivals.map(\.isUnknown) == [false, true])
    let changes = arrivals[0].changes
    #expect(changes.map(\.kind) == [.insert, .update, .delete])
    #expect(changes[0].columns == ["id", "name", "price"])
    #expect(changes[0].new == [1, "Oslo", nil])
    #expect(changes[1].old == [1, "Oslo", nil])
    #expect(changes[1].new == [1, "Voss", "7.00"])
    #expect(changes[2].old == changes[1].new && changes[2].new == nil)
  }

  @Test("Each message that ends too early or too late throws")
  func truncated() throws {
    for message in Self.messages {
      for count in 0..<message.count {
        #expect(throws: ServerValueText.Malformed.self) {
          try message.prefix(count).withUnsafeBytes { _ = try OutputMessage($0) }
        }
      }
      #expect(throws: ServerValueText.Malformed.self) {
        try (message + [0]).withUnsafeBytes { _ = try OutputMessage($0) }
      }
    }
  }

  @Test("Messages with wrong bytes, in any order, throw or are read, and never trap")
  func mutated() throws {
    var random = SeededGenerator(seed: 44)
    var thrown = 0
    for _ in 0..<30_000 {
      var assembly = assembly()
      do {
        for index in Self.messages.indices {
          let isOther = Int.random(in: 0..<8, using: &random) == 0
          var message =
            isOther ? Self.messages.randomElement(using: &random) ?? [] : Self.messages[index]
          for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let place = Int.random(in: 0..<message.count, using: &random)
            message[place] =
              [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
              .randomElement(using: &random) ?? 0
          }
          _ = try message.withUnsafeBytes { try assembly.take(OutputMessage($0)) }
        }
      } catch is ServerValueText.Malformed { thrown += 1 }
    }
    #expect(thrown > 1_000)
  }

  @Test("Rows of unknown tables, of too few values, and outside of transactions throw")
  func misplaced() throws {
    let short = Self.message("I", Self.table, Self.row("N", [nil]))
    for messages in [
      [Self.begin, Self.insert], [Self.relation, Self.insert], [Self.commit],
      [Self.begin, Self.begin],
      [Self.begin, Self.relation, short],
    ] {
      var assembly = assembly()
      #expect(throws: ServerValueText.Malformed.self) {
        for message in messages {
          _ = try message.withUnsafeBytes { try assembly.take(OutputMessage($0)) }
        }
      }
    }
  }
}
