// Places in a column's JSON, as declarations name them: `.index(on: columns.payload["state"], as: String.self)`.

extension Column where Value: Codable {
  /// The value with a name, in the object that the column holds as JSON, for an index.
  public subscript(name: String) -> JSONExpression { JSONExpression(column: self.name)[name] }

  /// An element of the array that the column holds as JSON, for an index.
  public subscript(index: Int) -> JSONExpression { JSONExpression(column: name)[index] }
}
