extension CraftedFile {
  /// Those that would like to keep the program busy, or take its memory.
  static var slow: [CraftedFile] {
    var files: [CraftedFile] = []
    for expression in expressions {
      for form in ["a AS (?) NOT NULL", "a AS (?)", "CHECK ((?) IS NOT 7)"] {
        let part = form.replacing("?", with: expression)
        files.append(CraftedFile(part, city(with: part), isSlow: true))
      }
    }
    return files + large
  }

  /// JSON with a key as often as it fits.
  private static func object(_ key: String) -> String {
    "'{' || replace(hex(zeroblob(name * 40000)), '00', '\"\(key)\":1,') || '\"z\":2}'"
  }

  private static let expressions = [
    "instr(hex(zeroblob(name * 500000)), substr(hex(zeroblob(name * 250000)), 2) || '1')",
    "replace(hex(zeroblob(name * 500000)), substr(hex(zeroblob(name * 250000)), 2) || '1', 'x')",
    "printf('%.*c', 2000000000, 'x')", "format('%.2000000000c', name)",
    "printf('%s%.*c%s', name, 2147483647, 'x', 1)", "printf('%2000000000d', name)",
    // The character that is there is the last one to be tried.
    "trim(hex(zeroblob(name * 250000)), replace(hex(zeroblob(name * 50000)), '0', 'x') || '0')",
    "zeroblob(1000000000)", "hex(zeroblob(500000000))", "randomblob(1000000000)",
    "hex(zeroblob(400000)) LIKE '%' || hex(zeroblob(24)) || '1'",
    "hex(zeroblob(400000)) GLOB '*' || hex(zeroblob(4000)) || '1'",
    "hex(zeroblob(400000)) GLOB '*[0-0][0-0][0-0][0-0][0-0][0-0][0-0][0-0]1'",
    "json_patch(\(object("k")), \(object("j")))",
    "quote(zeroblob(400000)) || hex(zeroblob(100000))",
  ]

  private static var large: [CraftedFile] {
    func repeated(_ count: Int, _ part: (Int) -> String) -> String {
      (0..<count).map(part).joined(separator: ", ")
    }
    let many = """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO city SELECT i, i FROM n;
      """
    let computed = repeated(40) { "c\($0) AS (length(zeroblob(900000 + name) || '')) NOT NULL" }
    let deep =
      String(repeating: "abs(", count: 20_000) + "1" + String(repeating: ")", count: 20_000)
    let doubled = repeated(60) {
      $0 == 0 ? "c0 AS ('x')" : "c\($0) AS (c\($0 - 1) || c\($0 - 1)) NOT NULL"
    }
    let pairs = (0..<190).flatMap { one in (0..<one).map { "UNIQUE (c\(one), c\($0))" } }
    return [
      CraftedFile(
        "memory for many columns",
        city(with: repeated(1900) { "c\($0) AS (zeroblob(1000000))" }), isSlow: true),
      CraftedFile(
        "many different constraints",
        city(with: repeated(190) { "c\($0)" } + ", " + pairs.joined(separator: ", ")),
        isSlow: true),
      CraftedFile(
        "a long chain of patterns",
        city(
          with:
            "a AS (max(\(repeated(30) { "hex(zeroblob(400000 + name)) GLOB '*[0-0][0-0][0-0][0-0][0-0][0-0][0-0][0-0]\($0)'" }))) NOT NULL"
        ), isSlow: true),
      CraftedFile(
        "a chain of conversions",
        city(
          with: repeated(150) { "c\($0) AS (lower(hex(zeroblob(400000 + name + \($0))))) NOT NULL" }
        ),
        isSlow: true),
      CraftedFile(
        "many large columns", city(with: repeated(190) { "c\($0) AS (zeroblob(1000000))" }),
        isSlow: true),
      CraftedFile("doubling", city(with: doubled), isSlow: true),
      CraftedFile("a deep expression", city(with: "a AS (\(deep))")),
      CraftedFile("many constraints", city(with: repeated(20_000) { _ in "UNIQUE (name)" })),
      CraftedFile("many columns", city(with: repeated(30_000) { "c\($0)" })),
      CraftedFile(
        "many rows of much",
        many
          + rewriting(
            "city", to: "CREATE TABLE city (id INTEGER PRIMARY KEY, name, \(computed))"),
        isSlow: true),
    ]
  }
}
