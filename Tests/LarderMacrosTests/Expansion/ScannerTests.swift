import Testing

@Suite("@Record's scanner finds the stored properties in any Swift source")
struct ScannerTests {
  @Test("The scanner finds properties between comments, nested comments and documentation")
  func comments() throws {
    try expectColumns(
      "a", "b", "c",
      in: """
        // var x: Int {
        /// "var y
        var a: Int /* var z: Int /* } */ " */, b /* = 5 */ : /**/ Int // {
        /* var w */ var c: Int
        """)
  }

  @Test("The scanner skips strings of all kinds, with interpolations")
  func strings() throws {
    try expectColumns(
      "a", "b", "c", "d", "e", "f", "g",
      in: ###"""
        var a = "}\"{", b = "\("}" + "\("{")")", c = #"\"#
        var d = #"\#("}")"}"#, e = """
          " "" { \(["k": """
            }
            """]) \"""
          """
        var f = ##"""
          """# \#(x
          """##, g = ""
        """###)
  }

  @Test("The scanner distinguishes regular expressions from division")
  func slashes() throws {
    try expectColumns(
      "a", "b", "c", "d", "e", "f",
      in: ##"""
        var a = /[{"}]\/"/, b = x / 2 / y, c = #/ { " /#
        var d = [1, 2].reduce(1, /), e = { $0 /= 2; return $0 / 2 }(5) / 3
        var f = #/
          { " \/#
          /#
        """##)
  }

  @Test(
    "The scanner takes a slash for a regular expression's start exactly where the compiler does")
  func literals() throws {
    try expectColumns(
      "a", "body", "b", "draft", "c", "d", "e", "f", "g", "h", "i",
      in: ##"""
        var a = try? /{/
        var body: String
        var b = try! /}/, draft: String
        var c = /]/, d = [/,"/, /}/], e = f(/\)/, /[)]/)
        var f = g {
          g()
          /{/.firstMatch(in: x)
        }
        var g = x! / y / z, h = x ?? /^ {/
        static func / (a: Self, b: Self) -> Self { a }
        static prefix func /^(a: Self) -> Self { a }
        var i = a / /* } */ b / c
        """##)
  }

  @Test("The scanner skips type aliases whose generic parameters end at the equals sign")
  func aliases() throws {
    try expectColumns(
      "a", "b",
      in: """
        typealias List<T>=[T]
        var a: Int
        typealias Pair<T: P, U>=Dictionary<T, (U) -> Set<T>>
        var b: Int
        """)
  }

  @Test("The scanner accepts attributes under #if that don't affect a property's storage")
  func conditionalAttributes() throws {
    try expectColumns(
      "a", "b",
      in: """
        #if DEBUG
        @discardableResult
        #endif
        func f() -> Int { 5 }
        #if DEBUG
        @available(*, deprecated)
        #elseif A && B
        #if C
        @usableFromInline
        #endif
        #endif
        var a: Int
        @inlinable
        #if DEBUG
        @MainActor @Clamped(5)
        #else
        @Other
        #endif
        static var d: Int { 5 }
        var b: Int
        """)
  }

  @Test("The scanner leaves out computed, lazy, static and class properties")
  func others() throws {
    try expectColumns(
      "kept", "open",
      in: """
        var a: Int { 5 }
        var b: Int { get { 5 } set { print(newValue) } }
        var c: [Int: Int]
        {
          @inlinable get async throws { [:] }
          nonmutating set { }
        }
        var d: Int { _read { yield x } _modify { yield &x } }
        static var e = 5, e2: Int { 5 }
        class var f: Int { 5 }
        lazy var g = { 5 }()
        static let (h, i) = (1, 2)
        private static let j: (Int) -> Void = { _ in }; var kept: Int
        public static var k: Int { get { 5 } }
        var open = 5
        """)
  }

  @Test("The scanner treats a property with observers as stored, also after a trailing closure")
  func observers() throws {
    try expectColumns(
      "a", "b", "c", "d", "e",
      in: """
        var a: Int { didSet { print("}") } }
        var b = f(5) { willSet(new) { } didSet { } }
        var c = f { $0 } { @available(*, deprecated) didSet { } }
        var d = didSet { willSet }, e: Int
        {
          willSet { }
        }
        """)
  }

  @Test(
    "The scanner reads types of every form: generics, functions, tuples, existentials, optionals")
  func types() throws {
    try expectColumns(
      "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
      in: """
        var a: Dictionary<String, Array<Set<Int>>>, b: [String: (x: Int, y: [Int])]?
        var c: (@escaping (Int, Int) -> Void) async throws(E<Int>) -> (Int) -> [Int]
        var d: any P & Q<Int, Int>, e: (some P)?, f: Outer.Inner<Int>.Leaf?? = nil
        var g: Int!, h: Array<Int>= [], i: InlineArray<3, Int>
        var j: @Sendable @MainActor () -> Void, k: Swift::Int
        """)
  }

  @Test("The scanner reads initial values of every form, also over several lines")
  func values() throws {
    try expectColumns(
      "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
      in: #"""
        var a = x
          .map { $0 } done: { 5 }
          + 5
          as? Int
        var b = Dictionary<String, Int>(), c = 1 < 2, d = y > z
        var e = flag ? 1 : 2, f = flag
          ? [1: 2]
          : [:]
        var g = if a { 1 } else if b { 2 } else { 3 }
        var h = switch a { case .x: 1; default: 2 }
        var i = -5, j = !true, k = x!, l = y?.z, m = 1...5, n: Range = ..<5
        var o = \T.a[0]?.b, p = try? await f(), q = #line, r = [
          "a", // ]
        ].count
        """#)
  }

  @Test("The scanner skips functions, subscripts, nested types and operators with their bodies")
  func members() throws {
    try expectColumns(
      "a", "b",
      in: """
        func f<T>(_ x: Int = { 5 }()) async throws(E) -> some P where T == Int
        {
          var inner: Int
        }
        static func == (a: Self, b: Self) -> Bool { a.a == b.a }
        static prefix func -(a: Self) -> Self { a }
        subscript(x: Int) -> Int { get { 5 } set { } }
        typealias Pair<T> = (T, Int) where T: P
        enum Kind: String { case x, y; var z: Int { 5 } }
        private final class Cache<T>: P where T: Q { var x = 5 }
        struct Inner { var y: Int }
        @discardableResult mutating func g() -> Int { a += 1; return a }
        class func h() {}
        var a: Int; var b: Int
        """)
  }

  @Test(
    "The scanner reads properties with attributes and modifiers, and leaves out @NotStored ones")
  func attributes() throws {
    try expectColumns(
      "a", "b", "c", "d", "e",
      in: """
        @available(*, deprecated, message: "var x") public internal(set) var a: Int
        @usableFromInline
        internal var b: Int
        nonisolated(unsafe) var c: Int
        @Clamped(0...5) @NotStored var x = 5
        @_spi(Tests) public let d: Int
        @NotStored weak var y: Cache?
        fileprivate(set) package var e: Int
        """)
  }

  @Test("The scanner reads names in backticks, in any script, and contextual keywords")
  func names() throws {
    try expectColumns(
      "`default`", "名前", "é", "😀", "get", "willSet", "some", "async", "_x", "x1", "$y",
      in: """
        var `default`: Int, 名前: Int, é = 1, 😀 = 2
        var get = 1, willSet = 2, some = 3
        var async: Int
        var _x: Int, x1: Int, $y: Int
        """)
    try expectColumns("`my`", in: "var `my`: Int")
  }

  @Test("Several properties in one declaration share the type that follows the last of them")
  func severalNames() throws {
    let expansion = try Expansion(
      """
      @Record
      struct T {
        @Column(.primaryKey) var id: Int
        var a, b: Double, c = "x", d: Int?
        init() {}
      }
      """)
    #expect(
      expansion.members.contains("(columns id: Int, a: Double, b: Double, c: String, d: Int?)"))
  }

  @Test("The scanner accepts #if around members that aren't stored")
  func conditions() throws {
    try expectColumns(
      "a", "b",
      in: """
        var a: Int
        #if DEBUG && (os(Linux) ||
          canImport(X))
        func f() {}
        #if swift(>=6)
        var c: Int { 5 }
        #endif
        #elseif !DEBUG
        static var d = 5
        #else
        #endif
        #warning("}")
        var b: Int
        """)
  }
}
