import LarderSQLite

/// A tokenizer, which splits texts into the terms that a ``FullTextIndex`` finds.
///
/// See [Tokenizers](https://www.sqlite.org/fts5.html#tokenizers).
public struct FullTextTokenizer: Hashable, Sendable, ExpressibleByStringLiteral {
  package enum Kind: Hashable, Sendable {
    case unicode61(removesDiacritics: Bool, stems: Bool), ascii, trigram, bigram, custom
  }

  package let kind: Kind
  /// The name and its arguments, as FTS5 takes them.
  package let words: [String]

  private init(_ kind: Kind, _ words: [String]) {
    self.kind = kind
    self.words = words
  }

  /// A tokenizer of the program's own, by its name: see `Database.createTokenizer`.
  public init(stringLiteral name: String) { self.init(.custom, [name]) }

  /// Terms are runs of letters and digits of any script, in any case. A run of
  /// Chinese characters is one term: see ``bigram``.
  ///
  /// - `removingDiacritics`: whether `e` finds `é`, and `é` finds `e`.
  /// - `alsoLetters`: characters that belong to terms too, such as `_` or `-`.
  public static func unicode61(
    removingDiacritics: Bool = true, alsoLetters: String = ""
  ) -> FullTextTokenizer {
    let words =
      ["unicode61", "remove_diacritics", removingDiacritics ? "2" : "0"]
      + (alsoLetters.isEmpty ? [] : ["tokenchars", alsoLetters])
    return FullTextTokenizer(.unicode61(removesDiacritics: removingDiacritics, stems: false), words)
  }

  /// Terms are the stems of English words: `ferry` finds `ferries`. The rest is as with
  /// ``unicode61(removingDiacritics:alsoLetters:)``.
  public static func porter(
    removingDiacritics: Bool = true, alsoLetters: String = ""
  ) -> FullTextTokenizer {
    let words = unicode61(removingDiacritics: removingDiacritics, alsoLetters: alsoLetters).words
    return FullTextTokenizer(
      .unicode61(removesDiacritics: removingDiacritics, stems: true), ["porter"] + words)
  }

  /// Terms are runs of ASCII letters, digits and all characters beyond ASCII.
  /// Only ASCII letters are the same in both cases.
  public static let ascii = FullTextTokenizer(.ascii, ["ascii"])

  /// Terms are every three consecutive characters, so that any part of a text of **three characters or more**
  /// is found, also inside of words. Shorter words in a pattern are ignored.
  ///
  /// - `caseSensitive`: whether `a` and `A` are different.
  public static func trigram(caseSensitive: Bool = false) -> FullTextTokenizer {
    FullTextTokenizer(.trigram, ["trigram", "case_sensitive", caseSensitive ? "1" : "0"])
  }

  /// Terms for Chinese, Japanese and Korean beside other languages: any part of a run
  /// of such characters is found, one character or more. All else is as with
  /// ``unicode61(removingDiacritics:alsoLetters:)``. If a single character is marked
  /// (``FullTextFields/snippet(_:mark:_:ellipsis:tokens:)``), so is the one after it.
  ///
  /// This tokenizer is Larder's: other programs can't use indexes with it, nor
  /// write to the tables of these indexes.
  public static let bigram = FullTextTokenizer(.bigram, ["bigram"])

  /// The value of FTS5's option `tokenize`.
  var option: String {
    words.enumerated().map { index, word in
      let isPlain = word.utf8.allSatisfy { $0.isSQLWord && $0 < 0x80 && $0 != UInt8(ascii: "$") }
      return index == 0 || isPlain ? word : word.quotedText
    }.joined(separator: " ")
  }

  var problem: String? {
    words.contains { $0.isEmpty || $0.utf8.contains(0) }
      ? "its tokenizer's name or an argument is empty or holds a NUL" : nil
  }
}
