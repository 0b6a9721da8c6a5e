import Testing

@Suite("Errors of @Record and their positions")
struct ProblemTests {
  @Test(
    "@Record reports enums, actors, generic types, non-final classes and types without a primary key"
  )
  func types() {
    expectProblem(
      "@Record can only be on a structure or a final class", in: "@Record\n⚠️enum E { case a }")
    expectProblem(
      "@Record can only be on a structure or a final class",
      in: "@Record\npublic ⚠️actor A<T> { }")
    expectProblem(
      "a generic type can't be a record, since it can't have static stored properties",
      in: "@Record\nstruct S⚠️<T> { var x: T }")
    expectProblem(
      "a class has to be final to be a record",
      in: "@Record\npublic ⚠️class C { let x: Int; init() { x = 5 } }")
    expectProblem(
      "a class needs an initializer of its own to be a record",
      in: "@Record\nfinal ⚠️class C { var x = 5 }")
    expectProblem(
      "“S” has no stored properties", in: "@Record\n⚠️struct S { var x: Int { 5 } }")
    expectProblem(
      "no property is the primary key: mark one @Column(.primaryKey), or pass options: .noPrimaryKey",
      in: "@Record\n⚠️struct S { var x: Int }")
  }

  @Test("@Record reports properties that can't be columns, at the property")
  func properties() {
    expectProblem(
      "@Clamped could be a property wrapper or a macro, so this may not be a plain stored property: add @NotStored, or store a property without it",
      in: "@Record\nstruct S { @Column(.primaryKey) ⚠️@Clamped(0...5) var x = 5 }")
    expectProblem(
      "a constant with an initial value can't be read from a row: make it var, or static, or add @NotStored",
      in: "@Record\nstruct S { let ⚠️x = 5 }")
    expectProblem(
      "a weak or unowned reference can't be a column: add @NotStored",
      in: "@Record\nstruct S { weak var ⚠️x: C? }")
    expectProblem(
      "the columns of a part are those of the whole record: remove @Column",
      in: "@Record(of: C.self)\nstruct S { ⚠️@Column(.primaryKey) var x: Int }")
    expectProblem(
      "@Record needs a declaration for each property, not a tuple of names",
      in: "@Record\nstruct S { var ⚠️(x, y) = (1, 2) }")
    expectProblem(
      "only a stored instance property can be a column",
      in: "@Record\nstruct S { ⚠️@Column(.unique) var x: Int { 5 } }")
    expectProblem(
      "only a stored instance property can be a column",
      in: "@Record\nstruct S { ⚠️@Column lazy var x = 5 }")
    expectProblem(
      "@Record writes a static property of this name: choose another, and the column's name with @Column",
      in: "@Record\nstruct S { var ⚠️columns = 5 }")
    expectProblem(
      "@Record writes a static property of this name: choose another, and the column's name with @Column",
      in: "@Record\nstruct S { @Column(.primaryKey) var x: Int; static let ⚠️table = 5 }")
    expectProblem(
      "@Record writes a type of this name itself",
      in: "@Record\nstruct S { @Column(.primaryKey) var x: Int; struct ⚠️Columns {} }")
    for inner in ["struct ⚠️S {}", "enum ⚠️`S` {}", "typealias ⚠️S = Int"] {
      expectProblem(
        "a type in a record can't have the record's name, which means the inner type there",
        in: "@Record\nstruct S { @Column(.primaryKey) var x: Int; \(inner) }")
    }
    expectProblem(
      "a private type in another can't be extended: make it fileprivate",
      in: "@Record\nprivate ⚠️struct S: Record { @Column(.primaryKey) var x: Int }",
      outer: "enum Outer {}")
    expectProblem(
      "write the type of “x”: @Record has to write an initializer that takes it",
      in: "@Record\nstruct S { @Column(.primaryKey) var ⚠️x = f(); init() {} }")
    expectProblem(
      "write the type of “y”: @Record has to write an initializer that takes it",
      in: "@Record\nstruct S { @Column(.primaryKey) private var x = 5; var ⚠️y = -1 }")
  }

  @Test("@Record reports @Column and @NotStored attributes that conflict or can't be read")
  func attributes() {
    expectProblem(
      "a property can't have both @Column and @NotStored",
      in: "@Record\nstruct S { @NotStored ⚠️@Column var x = 5 }")
    expectProblem(
      "a property can only have one @Column",
      in: "@Record\nstruct S { @Column(.unique) ⚠️@Column(.primaryKey) var x = 5 }")
    expectProblem(
      "@Column can only be on one property: declare each property by itself",
      in: "@Record\nstruct S { ⚠️@Column(.unique) var x, y: Int }")
    expectProblem(
      "“x” needs an initial value, since it isn't read from rows",
      in: "@Record\nstruct S { @NotStored var ⚠️x: Int }")
    expectProblem(
      "“x” needs an initial value, since it isn't read from rows",
      in: "@Record\nstruct S { @NotStored let ⚠️x: Int? }")
    for type in ["Optional<Int>", "Swift.Optional<Int>", "Swift::Optional<Int>", "[Int?]"] {
      expectProblem(
        "“x” needs an initial value, since it isn't read from rows",
        in: "@Record\nstruct S { @NotStored var ⚠️x: \(type) }")
    }
    expectProblem(
      "write the column's name as a string literal, or an option with its dot: .unique",
      in: "@Record\nstruct S { @Column(⚠️name) var x = 5 }")
    expectProblem(
      "write the option with its dot: .unique",
      in: "@Record\nstruct S { @Column(\"x\", ⚠️RecordAttribute.ColumnOption.unique) var x = 5 }")
  }

  @Test("@Record reports a version whose type isn't an integer, as far as the declaration tells")
  func versions() throws {
    for property in [
      "v: String", "v: Int?", "v: Foundation.Date", "v = \"1\"", "v = 1.5", "v: [Int]",
    ] {
      expectProblem(
        "a version has to be an integer that is never nil",
        in: "@Record\nstruct S { @Column(.primaryKey, ⚠️.version) var \(property) }")
    }
    for property in ["v: Int", "v: Swift.Int64", "v = 1", "v: Version", "v = f()"] {
      try expectColumns("v", in: "@Column(.version) var \(property)")
    }
  }

  @Test("@Record reports a timestamp whose type isn't a date, as far as the declaration tells")
  func timestamps() throws {
    for property in ["t: String", "t: Int?", "t = 1.5", "t: Swift.Int64", "t = \"\""] {
      for option in [".createdAt", ".updatedAt"] {
        expectProblem(
          "a timestamp has to be a Date or Date?",
          in: "@Record\nstruct S { @Column(.unique, ⚠️\(option)) var \(property) }")
      }
    }
    for property in ["t: Date", "t: Foundation.Date?", "t = Date()", "t: Moment"] {
      try expectColumns("t", in: "@Column(.updatedAt) var \(property)")
    }
  }

  @Test(
    "@Record reports properties, initializers and attributes under #if, and members from macros")
  func conditions() {
    let condition = """
      @Record can't tell whether this is compiled: a table needs the same columns, and a type the same \
      initializers, under all conditions
      """
    expectProblem(
      condition, in: "@Record\nstruct S {\n#if DEBUG\n#else\n⚠️var x: Int\n#endif\n}")
    expectProblem(
      condition, in: "@Record\nstruct S {\n#if A\n#if B\n⚠️@inlinable init() {}\n#endif\n#endif\n}")
    expectProblem(
      "@Record can't tell whether this is compiled: a property has to be the same column under all conditions",
      in: "@Record\nstruct S {\n#if DEBUG\n⚠️@NotStored\n#endif\nvar x = 5\n}")
    expectProblem(
      "@Record can't tell what this macro declares: write it in an extension",
      in: "@Record\nstruct S { ⚠️#properties(5) }")
  }

  @Test("@Record reports an empty table name, and key paths that aren't its columns")
  func arguments() {
    for (attribute, message, offset) in [
      ("@Record(\"\")", "a table's name can't be empty", 8),
      (#"@Record(indexes: [.index(\.a, \.b)])"#, #"the table has no column for “\.b”"#, 30),
      (#"@Record(indexes: [.index(\.a.b)])"#, #"the table has no column for “\.a”"#, 25),
      (#"@Record(indexes: [.index(\S.a)])"#, #"name a property of this type: \.name"#, 25),
    ] {
      let error = #expect(throws: (any Error).self) {
        _ = try Expansion(attribute + "\nstruct S { @Column(.primaryKey) var a: Int }")
      }
      #expect("\(error as Any)".contains("offset: \(offset)"))
      #expect("\(error as Any)".contains("\(message.debugDescription)"))
    }
  }

  @Test("@Record throws for malformed Swift source instead of crashing")
  func broken() {
    for text in [
      "", "@", "@Record", "struct", "struct S", "struct S {", "struct S { var",
      "struct S { var x: }",
      "struct S { var x = }", "struct S { var x: Int = \"", "struct S { /* ", "struct S { var `x",
      "struct S { var x = #/ }", "struct S { ) }", "struct S { var x: [Int }", "struct S { #if }",
      "struct S { #", "struct S { var x = a ? b }", "struct S { x }", "struct S { } }",
      "struct S { var x: Int = \"\\(", "struct S { @Column( var x: Int }", "struct S { \u{1} }",
      "struct S { typealias X }", "struct S { func", "struct S { struct X }",
    ] {
      #expect(throws: (any Error).self, "\(text)") { _ = try Expansion("@Record\n" + text) }
    }
  }

  @Test("@Record throws for source that is nested 100,000 levels deep, without a stack overflow")
  func nested() {
    for deep in [
      "var x = " + String(repeating: "\"\\(", count: 100_000),
      "var x: " + String(repeating: "A<", count: 100_000),
      "var x: " + String(repeating: "() -> ", count: 100_000) + "Int",
      "var x: " + String(repeating: "[", count: 100_000),
      String(repeating: "#if A\n", count: 100_000),
      "var x = " + String(repeating: "if a {} else ", count: 10_000),
    ] {
      #expect(throws: (any Error).self) {
        _ = try Expansion("@Record\nstruct S {\n\(deep)\n}")
      }
    }
  }
}
