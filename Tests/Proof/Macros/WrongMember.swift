/// A member that can't be expanded, and what has to be said of it.
struct WrongMember {
  /// With a mark where the error stands.
  let member: String
  let message: String
  var needsInitializer = false

  static let condition =
    "@Record can't tell whether this is compiled: a table needs the same columns, and a type the same initializers, under all conditions"

  /// Stands for the record's name.
  static let typeName = "\u{E001}"

  static let all = [
    WrongMember(
      member: "let \u{E000}f = 5",
      message:
        "a constant with an initial value can't be read from a row: make it var, or static, or add @NotStored"
    ),
    WrongMember(
      member: "\u{E000}@Clamped(0...5) var f = 5",
      message:
        "@Clamped could be a property wrapper or a macro, so this may not be a plain stored property: add @NotStored, or store a property without it"
    ),
    WrongMember(
      member: "weak var \u{E000}f: C?",
      message: "a weak or unowned reference can't be a column: add @NotStored"),
    WrongMember(
      member: "var \u{E000}(f, g) = (1, 2)",
      message: "@Record needs a declaration for each property, not a tuple of names"),
    WrongMember(
      member: "\u{E000}@Column(.unique) var f: Int { 5 }",
      message: "only a stored instance property can be a column"),
    WrongMember(
      member: "@available(*, deprecated) \u{E000}@Column static var f = 5",
      message: "only a stored instance property can be a column"),
    WrongMember(
      member: "@NotStored \u{E000}@Column var f = 5",
      message: "a property can't have both @Column and @NotStored"),
    WrongMember(
      member: "@Column \u{E000}@Column(\"f\") var f = 5",
      message: "a property can only have one @Column"),
    WrongMember(
      member: "\u{E000}@Column(.unique) var f = 5, g: Int",
      message: "@Column can only be on one property: declare each property by itself"),
    WrongMember(
      member: "@NotStored var \u{E000}f: [Int?]",
      message: "“f” needs an initial value, since it isn't read from rows"),
    WrongMember(
      member: "@NotStored var \u{E000}f: Optional<Int>",
      message: "“f” needs an initial value, since it isn't read from rows"),
    WrongMember(
      member: "@Column(.unique, \u{E000}.version) var f: String",
      message: "a version has to be an integer that is never nil"),
    WrongMember(
      member: "enum \u{E000}\(typeName) { }",
      message: "a type in a record can't have the record's name, which means the inner type there"),
    WrongMember(
      member: "@Column(\u{E000}Self.name) var f = 5",
      message: "write the column's name as a string literal, or an option with its dot: .unique"),
    WrongMember(member: "#if A\n#else\n\u{E000}var f: Int\n#endif", message: condition),
    WrongMember(
      member: "#if A\nfunc g() {}\n#if B\n\u{E000}@inlinable init() {}\n#endif\n#endif",
      message: condition),
    WrongMember(
      member: "\u{E000}#properties(\"}\")",
      message: "@Record can't tell what this macro declares: write it in an extension"),
    WrongMember(
      member: "enum \u{E000}Columns { }", message: "@Record writes a type of this name itself"),
    WrongMember(
      member: "static let \u{E000}columns = 5",
      message:
        "@Record writes a static property of this name: choose another, and the column's name with @Column"
    ),
    WrongMember(
      member: "var \u{E000}f = f() { didSet { } }",
      message: "write the type of “f”: @Record has to write an initializer that takes it",
      needsInitializer: true),
  ]
}
