import Foundation
import Larder

/// Five versions of a feed reader's schema.
enum FeedReader {
  static let migrator = Migrator([
    Migration(
      "1: feeds and entries",
      .create(
        "feed", .column("id", Int64?.self, .primaryKey), .column("url", String.self, .unique),
        .column("title", String?.self)),
      .create(
        "item", .column("id", Int64?.self, .primaryKey),
        .column(
          "feed", Int64.self, .references("feed", column: "id", onDelete: .cascade), .indexed),
        .column("guid", String.self), .column("title", String.self), .column("body", String.self),
        .column("author", String?.self), .column("published", String.self),
        .column("read", Bool.self, .default(false)), .column("draft", String?.self),
        constraints: [.unique("feed", "guid")])),
    Migration(
      "2: accounts, each with its states",
      .rename("item", to: "entry"),
      .create(
        "account", .column("id", Int64?.self, .primaryKey), .column("email", String.self, .unique)),
      .run("INSERT INTO account (email) VALUES ('owner@example.com')"),
      .create(
        "state",
        .column(
          "account", Int64.self, .primaryKey,
          .references("account", column: "id", onDelete: .cascade)),
        .column(
          "entry", Int64.self, .primaryKey, .references("entry", column: "id", onDelete: .cascade)),
        .column("read", Bool.self)),
      .move("read", from: "entry", to: "state", key: ["entry": "id", "account": "1"])),
    Migration(
      "3: times in milliseconds, names, kinds",
      .change(.column("published", Int64.self), of: "entry") { (old: String) in
        try Int64(Date(old, strategy: .iso8601).timeIntervalSince1970 * 1000)
      },
      .rename("body", of: "entry", to: "content"),
      .change(.column("title", String.self), of: "feed", converting: "coalesce(title, url)"),
      .create(enum: "kind", "article", "video", "audio"),
      .add(
        .column("kind", String.self, .default("article"), .sqlType(postgres: "kind")), to: "entry"),
      .remove("draft", from: "entry", losing: .columns)),
    Migration(
      "4: authors and tags",
      .create(
        "author", .column("id", Int64?.self, .primaryKey), .column("name", String.self, .unique)),
      .split(
        "author", of: "entry", into: "author", "name",
        by: .column("author_id", Int64?.self, .references("author", column: "id"))),
      .create(
        "tag",
        .column(
          "entry", Int64.self, .primaryKey, .references("entry", column: "id", onDelete: .cascade)),
        .column("name", String.self, .primaryKey), constraints: [.index("name")])),
    Migration(
      "5: words, and the order of the list",
      .add(.column("words", Int.self), to: "entry", filling: "length(content) / 6"),
      .add(.column("starred", Bool.self, .default(false)), to: "state"),
      .remove(.index("feed"), from: "entry"), .add(.index("feed", "published"), to: "entry"),
      .create(view: "unread", as: "SELECT entry FROM state WHERE NOT read")),
    Migration(
      "5: the words, counted",
      .backfill("words", of: "entry", from: "content", rows: 2) { (content: String) in
        content.split(separator: " ").count
      }),
  ])
}
