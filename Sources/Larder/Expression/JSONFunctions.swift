import LarderSQLite

// SQL functions that look into JSON.

extension SQLExpression {
  /// A value inside of JSON; NULL where there is none.
  ///
  /// ```swift
  /// City.filter { $0.details.jsonValue(at: "$.mayor.name", as: String.self) == "Ola" }
  /// // … WHERE json_extract("city"."details", ?) IS ?
  /// ```
  ///
  /// A path or text that is malformed throws ``LarderSQLite/DatabaseError`` when the statement
  /// runs. See [json_extract](https://www.sqlite.org/json1.html#jex).
  public func jsonValue<Result: DatabaseValueConvertible>(
    at path: String, as type: Result.Type = Result.self
  ) -> SQLExpression<Result?> {
    let path = SQLFragment(value: path)
    let value = SQLFragment(
      .form(
        .jsonValue(type.columnType), [node, path], SQLFragment.call("json_extract", node, path)))
    return SQLExpression<Result?>(value.owned(as: .own(of: type)))
  }

  /// The number of elements of a JSON array, by default of the whole value; 0 for what isn't an
  /// array, NULL where there is nothing.
  public func jsonCount(at path: String = "$") -> SQLExpression<Int?> {
    let path = SQLFragment(value: path)
    return SQLExpression<Int?>(
      SQLFragment(.form(.jsonCount, [node, path], .call("json_array_length", node, path))))
  }
}
