import Foundation
import Larder
import Testing

@Suite("JSON read as types with code of their own")
struct JSONDecodingTests {
  /// The numbers of a list, where the list has others, too.
  private struct Numbers: Codable, Equatable {
    var all: [Decimal] = []

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        if let number = try? list.decode(Decimal.self) { all.append(number) }
      }
    }
  }

  @Test("A type that ignores errors of elements reads numbers of any form, and its loop ends")
  func ignoredErrors() throws {
    let text = "[1.5, 12345678901234567890.25, 2]"
    let read = try JSON<Numbers>(databaseValue: .text(text)).value.all
    #expect(try read == JSONDecoder().decode([Decimal].self, from: Data(text.utf8)))
    #expect(read.count == 3)
  }

  /// A number, or where there is none the place of the error.
  private enum Number: Codable, Equatable {
    case value(Int)
    case missing(String)

    init(from decoder: any Decoder) throws {
      do {
        self = .value(try decoder.singleValueContainer().decode(Int.self))
      } catch DecodingError.typeMismatch(_, let context) {
        self = .missing(context.codingPath.map(\.stringValue).joined(separator: "."))
      }
    }
  }

  @Test("The error of a nested value that a type's code catches has the path of the value")
  func paths() throws {
    let text = #"{"a": [[1, "x"], [], ["y", 2, {"z": 3}]], "b": ["w"]}"#
    let read = try JSON<[String: [Flattened]]>(databaseValue: .text(text)).value
    #expect(
      read["a"]?.map(\.numbers) == [
        [.value(1), .missing("a.Index 0.Index 1")], [],
        [.missing("a.Index 2.Index 0"), .value(2), .missing("a.Index 2.Index 2")],
      ])
    #expect(read["b"]?.map(\.numbers) == [[.missing("b.Index 0")]])
  }

  /// A list of numbers, or one of them.
  private struct Flattened: Codable {
    var numbers: [Number]

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      numbers = try (try? value.decode([Number].self)) ?? [value.decode(Number.self)]
    }
  }

  @Test(
    "A long list whose elements are tried as several types takes time by its length",
    .timeLimit(.minutes(1)))
  func longList() throws {
    let text = "[\(String(repeating: #""x","#, count: 100_000))1]"
    let read = try JSON<[Number]>(databaseValue: .text(text)).value
    #expect(read.count == 100_001)
    #expect(read[99_999] == .missing("Index 99999"))
    #expect(read.last == .value(1))
  }

  /// The members of an object, in the order of their values.
  private struct Sorted: Codable {
    struct Name: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    var sum = 0

    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: Name.self)
      for key in object.allKeys.reversed() { sum += try object.decode(Int.self, forKey: key) }
    }
  }

  @Test(
    "An object's members that are read from the last to the first take time by their number",
    .timeLimit(.minutes(1)))
  func manyMembers() throws {
    let members = (0..<100_000).map { #""name \#($0)":\#($0)"# }
    let text = "{\(members.joined(separator: ","))}"
    #expect(try JSON<Sorted>(databaseValue: .text(text)).value.sum == 99_999 * 50_000)
  }

  @Test("A Float is the nearest one to the number in the text, not to the Double between")
  func floats() throws {
    let texts = [
      "16777217", "16777219.0", "16777217.0000001", "0.3333333433674408", "3.4028234e38",
    ]
    let read = try JSON<[Float]>(databaseValue: .text("[\(texts.joined(separator: ","))]")).value
    #expect(read == texts.compactMap { Float($0) })
  }
}
