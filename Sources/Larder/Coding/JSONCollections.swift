/// The types of arrays and dictionaries that are read without a container. They are looked up once: the runtime takes
/// some 400 instructions for each of them, each time.
struct JSONCollections {
  static let known = JSONCollections()

  let texts = ObjectIdentifier([String].self)
  let integers = ObjectIdentifier([Int].self)
  let wide = ObjectIdentifier([Int64].self)
  let reals = ObjectIdentifier([Double].self)
  let namedTexts = ObjectIdentifier([String: String].self)
  let namedIntegers = ObjectIdentifier([String: Int].self)
  let namedReals = ObjectIdentifier([String: Double].self)
  let namedFlags = ObjectIdentifier([String: Bool].self)
}
