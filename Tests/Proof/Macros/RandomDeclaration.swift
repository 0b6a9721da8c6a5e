/// A declaration that was made at random, with what `@Record` has to write for it.
struct RandomDeclaration {
  enum Expected: Equatable {
    case expansion(members: String, extensions: String)
    /// The text of the error, and where it stands.
    case problem(String, offset: Int)
  }

  private struct ExpectedColumn {
    /// With backticks.
    let name: String
    let visibility: String
    /// The column's name and options, as they are copied.
    let arguments: [String]
    let type: String
    let isDeprecated: Bool
  }

  /// Where the error stands while the text is made.
  private static let mark: Character = "\u{E000}"

  private(set) var text = ""
  private(set) var attribute = ""
  private(set) var expected = Expected.problem("", offset: 0)

  private var source: RandomSource
  private var columns: [ExpectedColumn] = []
  private var members: [String] = []
  private var names: Set<String> = []
  /// The property that isn't a column by its attribute, if there is one.
  private var notStored: String?
  private var hasInitializer = false
  private var isPrivate = false

  init(seed: UInt64) {
    source = RandomSource(seed: seed)
    make()
  }

  // MARK: The declaration

  private mutating func make() {
    let fault = source.happens(15) ? source.one(of: WrongMember.all) : nil
    hasInitializer = source.happens(15) || fault?.needsInitializer == true
    isPrivate = source.happens(15) && fault == nil
    let isClass = hasInitializer && source.happens(30)
    let hasKey = source.happens(80)
    let count = Int.random(in: 1...8, using: &source.random)
    for index in 0..<count { addColumn(isKey: index == 0 && hasKey) }
    for _ in 0..<Int.random(in: 0...5, using: &source.random) {
      insert(source.other())
    }
    if source.happens(20) { addNotStored() }
    if hasInitializer {
      insert(
        source.one(of: [
          "init() { self = x }", "public init?(_ x: Int = 5) { return nil }",
          "init<T>(x: T) where T: P\n{ }",
        ]))
    }
    if let fault { insert(fault.member) }
    let (labelled, tableName) = makeAttribute(hasKey: hasKey)
    finish(isClass, labelled, tableName, fault)
  }

  private mutating func insert(_ member: String) {
    members.insert(member, at: Int.random(in: 0...members.count, using: &source.random))
  }

  private mutating func newName() -> String {
    let words = [
      "name", "`default`", "`class`", "名前", "größe", "open", "get", "willSet", "some", "async",
      "lazy", "copy",
      "_x", "id2", "type", "of", "`init`", "😀", "any", "each", "prefix", "table", "package", "URL",
      "`self`",
    ]
    while true {
      var name = source.one(of: words)
      if !name.hasPrefix("`"), names.contains(name) {
        name += String(Int.random(in: 0..<1000, using: &source.random))
      }
      if names.insert(name).inserted { return name }
    }
  }

  /// Adds a stored property, or several in one declaration.
  private mutating func addColumn(isKey: Bool) {
    let isConstant = source.happens(25)
    let access = source.one(
      of: ["", "", "", "public ", "internal ", "package "]
        + (isPrivate ? ["private ", "fileprivate "] : []))
    let visibility =
      ["private ": "fileprivate ", "internal ": ""][access] ?? access
    let setter =
      isConstant || access == "private " ? "" : source.one(of: ["", "", "private(set) "])
    let attributes = source.one(
      of: [
        "", "", "", "@usableFromInline ", "@available(*, deprecated, message: \"{\")\n",
        "@_spi(X) ",
      ])
    var options = options(isKey: isKey)
    var columnAttribute = ""
    var name: String?
    if !options.isEmpty || source.happens(20) {
      name = source.happens(40) ? source.one(of: [#""a name""#, ##"#"q"x"#"##, #""\"}""#]) : nil
      let label = source.one(of: ["@Column", "@LarderMacros.Column", "@ Column", "@Column"])
        .replacing("@ ", with: "@")
      var separator = ","
      separator += source.space()
      let arguments = [name].compactMap { $0 } + options
      columnAttribute = label + "(" + arguments.joined(separator: separator) + ")" + source.space()
      // The separators between arguments are the macro's own.
      if arguments.isEmpty { columnAttribute = label + source.space() }
    } else {
      options = []
    }
    let isSeveral = columnAttribute.isEmpty && source.happens(15)
    let bindings = (0..<(isSeveral ? 3 : 1)).map { index in
      binding(isConstant, isAlone: !isSeveral, isLast: index == (isSeveral ? 2 : 0))
    }
    for binding in bindings {
      let plain = binding.name.filter { $0 != "`" }
      columns.append(
        ExpectedColumn(
          name: binding.name, visibility: visibility,
          arguments: [name ?? "\"\(plain)\""] + options, type: binding.type,
          isDeprecated: attributes.contains("deprecated")))
    }
    let modifiers = source.one(of: [access + setter, setter + access])
    let order = source.one(of: [columnAttribute + attributes, attributes + columnAttribute])
    members.append(
      order + modifiers + (isConstant ? "let" : "var") + source.space()
        + bindings.map(\.text).joined(separator: "," + source.space()))
  }

  private mutating func options(isKey: Bool) -> [String] {
    var options = isKey ? [source.one(of: [".primaryKey", ".autoincrement"])] : []
    let pool = [
      ".unique", ".indexed", ".readOnly", ".validJSON", ".collate(\"NOCASE\")",
      ".check(\"x > \\(5)\")",
      ".default(\(source.expression(depth: 2)))", ".default(sql: \"'}' || ')'\")",
      ".generated(\"a + b\", stored: true)", ".references(City.self, onDelete: .cascade)",
      ".references(Outer.Box<Int, Int>.self)",
    ]
    for _ in 0..<3 where source.happens(20) { options.append(source.one(of: pool)) }
    if source.happens(20) {
      options.append(
        "as: "
          + source.one(of: [
            ".json", ".iso8601", ".format(.sqlDate)",
            "ColumnCoding<Color>(encode: { $0.hue / 2 }, decode: { Color(\"}\", $0) })",
          ]))
    }
    return options
  }

  private mutating func binding(
    _ isConstant: Bool, isAlone: Bool, isLast: Bool
  ) -> (name: String, type: String, text: String) {
    let name = newName()
    let isWritten = hasInitializer || isPrivate
    var text = name
    var type = "Int"
    let isFunction = source.happens(6)
    let needsType = isConstant || isLast && !source.happens(35)
    if !needsType, isWritten || source.happens(20) {
      // A literal says its type.
      let (literal, itsType) = source.one(of: [
        ("5", "Int"), ("0xE", "Int"), ("1.5", "Double"), ("1e3", "Double"), ("true", "Bool"),
        ("\"}\"", "String"), ("#\"\"\"\n\"\n\"\"\"#", "String"),
      ])
      return (name, itsType, text + " = " + literal)
    }
    if needsType || isWritten || source.happens(50) {
      let written = isFunction ? source.functionType() : source.type()
      type = (isFunction ? "@escaping " : "") + written
      text += source.one(of: [": ", ":", " : ", ":" + source.space()]) + written
      guard !isConstant, source.happens(50) else {
        return (name, type, text + (isAlone && !isConstant ? observers() : ""))
      }
    }
    let value = source.value()
    text += source.one(of: [" = ", " =\n    ", " = /* \" */ "]) + value
    if isAlone, !value.hasPrefix("if "), !value.hasPrefix("switch ") { text += observers() }
    return (name, type, text)
  }

  private mutating func observers() -> String {
    guard source.happens(15) else { return "" }
    let inside = source.expression(depth: 1)
    return source.one(of: [
      " { didSet { \(inside) } }", "\n  { willSet(new) { \(inside) } didSet { } }",
      "{ @available(*, deprecated) didSet { } }", " { // }\n  willSet { } }",
    ])
  }

  private mutating func addNotStored() {
    let (name, member) = source.one(of: [
      ("n1", "@NotStored var n1 = \(source.value())"),
      ("n2", "@NotStored private(set) var n2: Int? = 5"),
      ("n3", "@NotStored @Clamped(0...5) var n3: Int"),
      ("n4", "@Lazy(\"}\") @NotStored\n  var n4 = 5"),
      ("n5", "@NotStored var n5: [Int]?"), ("n6", "@NotStored weak var n6: Box<Int>?"),
      ("n7", "@LarderMacros.NotStored var n7 = 5"),
    ])
    notStored = name
    insert(member)
  }

  /// Makes the attribute: the arguments that are copied from it, and the table's name.
  private mutating func makeAttribute(hasKey: Bool) -> (labelled: [String], name: String?) {
    var arguments: [String] = []
    var labelled: [String] = []
    let name = source.happens(40) ? source.one(of: ["\"city\"", "Self.name", "#\"a\"b\"#"]) : nil
    if let name { arguments.append(name) }
    let column = source.one(of: columns).name
    for label in ["constraints", "indexes"] where source.happens(25) {
      let gap = source.happens(20) ? source.space() : ""
      let form = source.one(of: [
        "[.unique(%)]", "[.index(%, %, unique: true, where: \"\\\\.x } \\(5)\", name: \"n\")]",
        "[.foreignKey(%, references: Box<Int>.self), .check(\"a / b\")]", "[]",
      ])
      arguments.append("\(label): \(gap)\(form.replacing("%", with: "\\.\(column)"))")
      labelled.append("\(label): \(form.replacing("%", with: "columns.\(column)"))")
    }
    if !hasKey || source.happens(20) {
      let options = source.one(of: [".noPrimaryKey", "[.noPrimaryKey, .notStrict]", "Self.options"])
      arguments.append("options: \(options)")
      labelled.append("options: \(options)")
    }
    let macro = source.one(of: ["@Record", "@LarderMacros.Record"])
    attribute = arguments.isEmpty ? macro : "\(macro)(\(arguments.joined(separator: ", ")))"
    return (labelled, name)
  }

  // MARK: What is to be written

  private mutating func finish(
    _ isClass: Bool, _ labelled: [String], _ tableName: String?, _ fault: WrongMember?
  ) {
    let (type, ownName) = source.one(of: [
      ("City", "\"city\""), ("`Type`", "\"type\""), ("URLEntry", "\"urlEntry\""),
    ])
    let access = source.one(of: [
      "", "public ", "package ", "private ", "fileprivate ", "internal ",
    ])
    let head = source.one(of: ["", "/// A struct {\n", "@available(*, deprecated) "])
    let before = head + attribute + source.space() + access + (isClass ? "final " : "")
    let conformances = source.one(of: ["", ": P", ": P<Int>, Q where X == Y", ": Hashable, P & Q"])
    var body = ""
    for (index, member) in members.enumerated() {
      let following = index + 1 < members.count ? members[index + 1] : ""
      // A line is a directive's own.
      let isDirective = member.hasPrefix("#") || following.hasPrefix("#")
      body +=
        member.replacing(WrongMember.typeName, with: type)
        + (isDirective ? "\n" : source.one(of: ["\n", "\n  ", ";\n", "; "]))
    }
    let marked =
      before + (isClass ? "class " : "struct ") + type + conformances + source.space() + "{\n"
      + body + "}"
    text = marked.filter { $0 != Self.mark }
    if let fault {
      let offset = marked.prefix { $0 != Self.mark }.utf8.count
      expected = .problem(fault.message, offset: offset)
      return
    }
    let visibility = access == "public " || access == "package " ? access : ""
    let labels = columns.map { column in
      let plain = column.name.filter { $0 != "`" }
      return column.name.hasPrefix("`") ? plain : column.name
    }
    let isWritten =
      hasInitializer || columns.contains { $0.visibility == "fileprivate " }
    let given = (isWritten ? ["columns"] + labels.dropFirst() : labels).enumerated()
      .map { "\($1): $\($0)" }
    var make = "{ \(type)(\(given.joined(separator: ", "))) }"
    // Parts with deprecated properties are made in deprecated members, unless the whole type is deprecated.
    let avoids = !head.contains("deprecated") && columns.contains(where: \.isDeprecated)
    var parts: [String] = []
    func part(_ declaration: String) -> String {
      let name = "Deprecated\(parts.count + 1)"
      parts.append(
        "fileprivate enum \(name): LarderMacros::DeprecatedPart { @available(*, deprecated) static \(declaration) }"
      )
      return name + ".used"
    }
    var written = [visibility + "struct Columns: Sendable {"]
    for column in columns {
      let arguments =
        ([column.arguments[0], "\\\(type).\(column.name)"] + column.arguments.dropFirst())
        .joined(separator: ", ")
      let value = "Larder::Column(\(arguments))"
      let isPart = avoids && column.isDeprecated
      written.append(
        "\(column.visibility)let \(column.name) = \(isPart ? part("let part = \(value)") : value)")
    }
    if avoids, isWritten {
      let types = columns.map(\.type).joined(separator: ", ")
      make = "Columns." + part("var part: @Sendable (\(types)) -> \(type) { \(make) }")
    }
    let arguments =
      [tableName ?? ownName, make] + columns.map { "columns.\($0.name)" } + labelled
      + (notStored.map { ["notStored: [\\\(type).\($0)]"] } ?? [])
    written += parts
    written += [
      "}", "\(visibility)static let columns = Columns()",
      "\(visibility)static let table: Larder::Table<\(type)> = Larder::Table( "
        + arguments.joined(separator: ", ") + ")",
    ]
    var extensions = "extension T: Larder::Record, Larder::SingleSource, Larder::QuerySource {}"
    if isWritten {
      let parameters = columns.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
      let lines =
        [(avoids ? "@available(*, deprecated) " : "") + "fileprivate init(columns \(parameters)) {"]
        + columns.map { "self.\($0.name) = \($0.name)" } + ["}"]
      if hasInitializer {
        written += lines
      } else {
        extensions =
          (["extension T: Larder::Record, Larder::SingleSource, Larder::QuerySource {"] + lines + [
            "}"
          ])
          .joined(separator: " ")
      }
    }
    expected = .expansion(
      members: Macros.inOneLine(written.joined(separator: " ")),
      extensions: Macros.inOneLine(extensions))
  }
}
