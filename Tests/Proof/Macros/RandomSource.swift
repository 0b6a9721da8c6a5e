import TestSupport

/// Random Swift: white space, types and expressions that a scanner could lose its way in. They parse, but
/// mean nothing.
struct RandomSource {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func one<T>(of all: [T]) -> T { all[Int.random(in: all.indices, using: &random)] }

  mutating func happens(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  /// What may stand between any two tokens.
  mutating func space() -> String {
    guard happens(15) else { return " " }
    return one(of: [
      "\n", "\n    ", "\t", " \r\n", " // } \" { /* \n", " /* { \" */ ", " /* /* } */ \" // */ ",
      "\n\n  /// var x: Int {\n",
    ])
  }

  // MARK: Types

  mutating func type(depth: Int = 2) -> String {
    let simple = ["Int", "Int64", "String", "Double", "Bool", "Date", "UUID", "Kind", "Outer.Kind"]
    guard depth > 0, happens(40) else { return one(of: simple) + (happens(30) ? "?" : "") }
    let (a, b) = (type(depth: depth - 1), type(depth: depth - 1))
    return one(of: [
      "[\(a)]", "[\(a): \(b)]", "[\(a):\(b)]?", "Dictionary<\(a), \(b)>", "Array<Set<\(a)>>",
      "Optional<\(a)>", "(\(a), \(b))", "(x: \(a), y: \(b))?", "((\(a)) -> \(b))?",
      "Box<\(a)>.Leaf<\(b)>?", "any P & Q<\(a)>", "[Box<\(a), (\(b), Int)>]??",
      "InlineArray<3, \(a)>",
      "[(\(a)) async throws -> \(b)]", "Box<Box<Box<\(a)>>>", "(any P)?", "Box< \(a) , \(b) >",
    ])
  }

  mutating func functionType() -> String {
    let (a, b) = (type(depth: 1), type(depth: 1))
    return one(of: [
      "(\(a)) -> \(b)", "@Sendable (\(a), \(b)) async throws -> Void",
      "() throws(E<\(a)>) -> (\(b)) -> Int",
      "@MainActor @Sendable () -> [\(a)]",
    ])
  }

  // MARK: Expressions

  private mutating func leaf() -> String {
    one(of: [
      "5", "0x1F", "1.5e-3", "1_000", "true", "nil", "x", "_y1", "Self.limit", ".some", "[]", "[:]",
      "()",
      #""""#, #""a""#, #""}{\"\\""#, #""// /* ""#, ##"#"\"}"#"##, ##"#"\#("}" + #"""#)"#"##,
      "\"\"\"\n } \" \"\" \\(x) \\\"\"\"\n\"\"\"", "#\"\"\"\n\"\"\" \\(x {\n\"\"\"#",
      #""\(x + "}" + "\("{")")""#, #"/[{"}]+\/"/"#, #"#/{ " / \/# /#"#, "#/\n  { \" }}\n/#",
      "\\.name",
      "\\T.a[0]?.b", "#column", "#file", "{ }", "{ $0 }",
      "{ [weak x] (a: Int) -> Int in a / 2 / 3 }",
      "x!", "x?.y", "x!.y?.z", "-x", "!x", "1...5", "..<5", "f()", "Box<Int, [Int]>()", "名前",
      "`default`",
      "x /* } */", "Dictionary<String, Array<Int>>.self", "x.get", "(didSet)", "copy", "open",
    ])
  }

  /// An expression; its lines end only where it goes on.
  mutating func expression(depth: Int = 3) -> String {
    guard depth > 0, happens(70) else { return leaf() }
    let (a, b) = (expression(depth: depth - 1), expression(depth: depth - 1))
    let simple = leaf()
    return one(of: [
      "(\(a), \(b))", "[\(a), \(b)]", "[\"k\": \(a), \"}\": \(b)]", "f(\(a), label: \(b))",
      "x.map { \(a) }", "x.f(\(a)) { $0 } done: { \(b) }", "\(simple) + \(a)",
      "\(simple)\n  + \(a)",
      "\(simple) ??\n  \(a)", "x ? \(a) : \(b)", "x\n  ? \(a)\n  : \(b)", "x as? \(type())",
      "x\n  as! [String: \(type())]", "x is \(type())", "try? f(\(a))", "try f(\(a))",
      "Dictionary<String, \(type())>(\(a))", "Array<Array<\(type())>>()", "x < \(a)",
      "(x < y, y > 5)",
      "{ (a: Int) -> Int in let b = \"}\"; return \(a) }()", "{\n  // }\n  \(a)\n}()", "x[\(a)]",
      "x\n    .y(\(a))\n    .z", "x.y\n    // a line between {\n    .z { \(a) }", "await f(\(a))",
      "x.reduce(1, /)", "\(simple) / x / \(a)", "{ $0 /= 2; return \(a) }", "x === \(a)",
      "f\n{ \(a) }",
      "f(\(a))!.x<Int, Int>(\(b))", "#macro(\(a)) { \(b) }", "(any P).self == \(a)", "-(\(a))",
      "f { \(a) } onError: { _ in \(b) }\n  onEnd: { }", "x.0.1 + \(a)", "unsafe f(\(a))",
      "&x + \(a)",
    ])
  }

  /// An initial value.
  mutating func value() -> String {
    guard happens(8) else { return expression() }
    let (a, b) = (expression(depth: 1), expression(depth: 1))
    return one(of: [
      "if x { \(a) } else { \(b) }",
      "if x == 5, let y { \(a) }\n  else if f(\(a)) { 5 } else { \(b) }",
      "switch x { case 1: \(a)\n default: \(b) }",
    ])
  }

  // MARK: Members that are no columns

  mutating func other() -> String {
    let (a, b) = (expression(depth: 2), expression(depth: 1))
    let number = Int.random(in: 0..<1000, using: &random)
    return one(of: [
      "var c\(number): \(type()) { \(a) }", "var c\(number): Int { get { \(a) } set { \(b) } }",
      "var c\(number): \(type())\n{\n  @inlinable get async throws { \(a) }\n}",
      "var c\(number): Int { _read { yield x } }", "static var s\(number) = \(a), s = \(b)",
      "static let s\(number): \(type()) = \(a)", "private static let (p, q) = (1, 2)",
      "public static var s\(number): Int { \(a) }", "lazy var l\(number) = \(a)",
      "func f<T: P>(_ x: Int = \(a)) async throws(E) -> some P\n  where T == Int\n{ var x = \(b) }",
      "@discardableResult mutating func g\(number)() -> (\(type())) -> Void { \(a) }",
      "static func == (a: Self, b: Self) -> Bool { \(a) }",
      "static prefix func - (a: Self) -> Int { \(a) }",
      "subscript(x: Int) -> \(type()) { get { \(a) } set { } }",
      "func h\(number)() { let init\(number) = 5 }",
      "typealias A\(number)<T> = Box<T, \(type())> where T: P",
      "typealias B\(number) = (\(type())) -> Int",
      "enum E\(number): String { case x = \"}\", y; var z: Int { \(a) } }",
      "private final class N\(number)<T>: P where T: Q { var x = \(a); init() { } }",
      "struct S\(number) { @Column var y: Int; let z = \(a) }",
      "#if DEBUG && (os(Linux) ||\n  canImport(X))\nfunc i() { \(a) }\n#else\nvar j: Int { \(b) }\n#endif",
      "#if A\n#if B\nstatic let k = \(a)\n#endif\n#elseif !C\n#endif", "#warning(\"}\")",
      "@available(*, deprecated, message: \"var x: Int {\") func m() { }",
      "nonisolated func n() { }",
    ])
  }
}
