import Foundation
import LarderJobs
import LarderMacros
import LarderOutbox

/// How the schema came to be. Steps name tables and columns, so records can change without copies of old ones.
let migrator = Migrator(
  JobQueue.migrations + OutboxTables.migrations + [
    Migration(
      "1: feeds and items",
      .create(
        "feed", .column("id", Int64?.self, .primaryKey), .column("url", String.self, .unique),
        .column("title", String?.self)),
      .create(
        "item", .column("id", Int64?.self, .primaryKey),
        .column("feed", Int64.self, .references("feed", column: "id", onDelete: .cascade)),
        .column("guid", String.self), .column("title", String.self), .column("body", String.self),
        .column("published", String.self), constraints: [.unique("feed", "guid")])),
    Migration(
      "2: accounts and their states",
      .create(
        "account", .column("id", Int64?.self, .primaryKey), .column("email", String.self, .unique),
        .column("token", UUID.self, .unique)),
      .rename("item", to: "entry"), .rename("body", of: "entry", to: "content"),
      .create(
        "state",
        .column(
          "account", Int64.self, .primaryKey,
          .references("account", column: "id", onDelete: .cascade)),
        .column(
          "entry", Int64.self, .primaryKey, .references("entry", column: "id", onDelete: .cascade)),
        options: .withoutRowID),
      .create(
        "subscription",
        .column(
          "account", Int64.self, .primaryKey,
          .references("account", column: "id", onDelete: .cascade)),
        .column(
          "feed", Int64.self, .primaryKey, .indexed,
          .references("feed", column: "id", onDelete: .cascade)),
        options: .withoutRowID)),
    Migration(
      "3: times as numbers, titles for all feeds",
      .change(.column("published", Int64.self), of: "entry") { (old: String) in
        try Int64(Date(old, strategy: .iso8601).timeIntervalSince1970 * 1000)
      },
      .change(.column("title", String.self), of: "feed", converting: "coalesce(title, url)"),
      .add(.index("feed", "published"), to: "entry")),
    Migration(
      "4: stars, words, activity",
      .add(.column("starred", Bool.self, .default(false)), to: "state"),
      .add(.column("words", Int.self, .default(0)), to: "entry"),
      .create(
        "activity",
        .column(
          "feed", Int64.self, .primaryKey, .references("feed", column: "id", onDelete: .cascade)),
        .column("entries", Int.self, .default(0)))),
    // In batches, while the service of the last version goes on.
    Migration(
      "5: the words of old entries",
      .backfill("words", of: "entry", from: "content", rows: 1_000) { (content: String) in
        wordCount(content)
      }),
    Migration(
      "6: full text",
      .create(fullText: "entry_text", of: "entry", "title", "content", prefixes: [2, 3])),
  ])

func wordCount(_ text: String) -> Int { text.split(whereSeparator: \.isWhitespace).count }
