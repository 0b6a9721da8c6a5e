import Larder
import PostgresSupport
import Testing

@Suite("Types with their own `init(from:)`")
struct DecoderContainerTests {
  let db: Database

  init() throws { db = try Database.empty() }

  private struct Peak: Decodable, Equatable {
    var name: String
    var height: Int?
    var path: [String] = []

    enum Keys: CodingKey { case name, height }
    init(from decoder: any Decoder) throws {
      #expect(decoder.userInfo.isEmpty && decoder.codingPath.isEmpty)
      let container = try decoder.container(keyedBy: Keys.self)
      #expect(container.codingPath.isEmpty)
      height =
        try container.decodeNil(forKey: .height) ? nil : container.decode(Int.self, forKey: .height)
      let column = try container.superDecoder(forKey: .name)
      #expect(column.userInfo.isEmpty)
      path = column.codingPath.map(\.stringValue)
      name = try column.singleValueContainer().decode(String.self)
    }
  }

  @Test("A hand-written initializer can test a column for NULL and get a decoder for one column")
  func columns() throws {
    let peaks = try db.fetch(
      Peak.self, "SELECT 'Glittertind' AS name, 2465 AS height UNION ALL SELECT 'Unknown', NULL")
    #expect(peaks.map(\.name) == ["Glittertind", "Unknown"])
    #expect(peaks.map(\.height) == [2465, nil])
    #expect(peaks.map(\.path) == [["name"], ["name"]])
    let error = failure(DatabaseError.self) { try db.fetch(Peak.self, "SELECT 1 AS height") }
    #expect(error?.message == "no column “name”: the columns are height")
  }

  private struct Height: Decodable, Equatable {
    var meters: Int?
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      meters = container.decodeNil() ? nil : try container.decode(Int.self)
    }
  }

  @Test("A hand-written single-value initializer can test its value for NULL")
  func singleValue() throws {
    struct Mountain: Decodable { var height: Height }
    let mountains = try db.fetch(
      Mountain.self, "SELECT 2469 AS height UNION ALL SELECT NULL")
    #expect(mountains.map(\.height.meters) == [2469, nil])
  }

  @Test("A nested container for a column throws, even if the column holds JSON")
  func nested() throws {
    struct Site: Decodable {
      enum Keys: CodingKey { case position, latitude }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        _ = try container.nestedContainer(keyedBy: Keys.self, forKey: .position)
      }
    }
    let error = failure(DatabaseError.self) { try db.fetch(Site.self, "SELECT '{}' AS position") }
    #expect(
      error?.message.hasPrefix("the column “position” can't be decoded as a container") == true)
  }
}
