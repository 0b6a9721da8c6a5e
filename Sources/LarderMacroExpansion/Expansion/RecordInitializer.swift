/// The initializer by which a table makes a record from a row's values.
enum RecordInitializer {
  /// The compiler's memberwise initializer, which may have further parameters with default values.
  case memberwise
  /// An initializer that the macro writes: the type has its own ones, or the compiler's would be private, or
  /// would take other values.
  case written(types: [String], isMember: Bool)

  init(
    _ type: TypeDeclaration, _ columns: [ColumnDeclaration], in scanner: SourceScanner
  ) throws {
    let isPrivate = columns.contains(where: \.property.prefix.access.isPrivate)
    // The compiler's initializer takes the values of such accessors, in place of the properties that they
    // initialize.
    let hasOther = type.properties.contains(where: \.hasInitializingAccessor)
    guard type.initializerOffset != nil || isPrivate || hasOther else {
      self = .memberwise
      return
    }
    let types = try columns.map { column in
      guard let type = column.parameterType(in: scanner) else {
        throw SourceProblem(
          "write the type of “\(column.property.name)”: @Record has to write an initializer that takes it",
          at: column.property.offset)
      }
      return type
    }
    // It is written in an extension if the type has no initializer: a member would suppress the compiler's
    // own.
    self = .written(types: types, isMember: type.initializerOffset != nil)
  }
}
