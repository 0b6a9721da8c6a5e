import LarderSQLite

// Places in a column's JSON, as declarations name them: `.index(on: columns.payload["state"], as: String.self)`.

extension Column where Value: Codable {
  /// The value with a name, in the object that the column holds as JSON, for an index.
  public subscript(name: String) -> JSONExpression { JSONExpression(column: self.name)[name] }

  /// An element of the array that the column holds as JSON, for an index.
  public subscript(index: Int) -> JSONExpression { JSONExpression(column: name)[index] }
}

extension TableConstraint {
  /// An index, or a unique one, on what lies at a path in JSON, for comparisons with values of a type and orders by it.
  ///
  /// ```swift
  /// indexes: [.index(on: columns.payload["customer"]["id"], as: Int.self)]
  /// // CREATE INDEX "job_payload_customer_id_index" ON "job"
  /// //   ((larder_json_if("payload", '["customer","id"]', 'number')))
  /// ```
  ///
  /// For numbers, texts and Bools: creating the table throws ``LarderSQLite/DatabaseError`` for other types. Values
  /// of another type don't count. On SQLite it serves for numbers of any type, and only Larder's connections write to
  /// the table: others don't have the function. On PostgreSQL it serves for numbers of this type.
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
