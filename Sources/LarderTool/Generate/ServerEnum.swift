/// An enumeration type of a server.
struct ServerEnum: Hashable {
  /// The name as in SQL, with its schema if that isn't on the search path.
  let name: String
  /// The name as in SQL, always with its schema.
  let fullName: String
  let labels: [String]
  /// The comment on the type, if there is one.
  let comment: String?
}
