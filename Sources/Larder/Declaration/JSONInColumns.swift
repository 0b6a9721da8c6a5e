import LarderSQLite

// Places in a column's JSON, as declarations name them:
// `.index(on: columns.payload["state"], as: String.self)`.

extension Column where Value: Codable {
  /// A member of the object that the column holds as JSON, by its name, for an index.
  public subscript(name: String) -> JSONExpression { json[name] }

  /// An element of the array that the column holds as JSON, for an index.
  public subscript(index: Int) -> JSONExpression { json[index] }

  /// The JSON as queries name it, apart from the table: an index serves the same expression only.
  private var json: JSONExpression {
    JSONExpression(SQLFragment(text: name.quotedIdentifier, coding: storage.expressionCoding))
  }
}

extension TableConstraint {
  /// An index, optionally unique, on the value at a path in JSON. It serves
  /// comparisons with values of a type, and ORDER BY.
  ///
  /// ```swift
  /// indexes: [.index(on: columns.payload["customer"]["id"], as: Int.self)]
  /// // CREATE INDEX "job_payload_customer_id_index" ON "job"
  /// //   ((larder_json_if("payload", '["customer","id"]', 'number')))
  /// ```
  ///
  /// The type has to be a number, a text or a Bool: creating the table throws ``LarderSQLite/DatabaseError``
  /// for other types. Values of another type count as NULL. On SQLite the index serves numbers of any type,
  /// and only Larder's connections can write to the table, since others lack the function. On PostgreSQL it
  /// serves numbers of this type.
  ///
  /// With `@Record` the column is named by a key path: `.index(on: \.payload["state"], as: String.self)`.
  public static func index<Value: DatabaseValueConvertible>(
    on path: JSONExpression, as type: Value.Type, unique: Bool = false,
    where condition: SQL? = nil, name: String? = nil
  ) -> Self {
    Self(
      definition: .expressionIndex(
        path.declared(as: type, isCompared: true), suffix: path.indexName, isUnique: unique,
        condition, name: name))
  }
}
