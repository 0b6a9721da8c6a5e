/// The storage class of a value in SQLite; see [Datatypes](https://www.sqlite.org/datatype3.html).
public enum StorageClass: Int32, Hashable, Sendable {
  /// A signed 64-bit integer.
  case integer = 1
  /// A 64-bit floating point number.
  case real = 2
  /// Text.
  case text = 3
  /// Bytes.
  case blob = 4
  /// No value.
  case null = 5
}
