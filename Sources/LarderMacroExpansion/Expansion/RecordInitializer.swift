/// How a table makes a record of a row's values.
enum RecordInitializer {
  /// By the initializer that the compiler makes.
  case memberwise
  /// By that one too, which has further parameters with values.
  case memberwiseWithDefaults
  /// By one that is written: the type has others of its own, or the compiler's would be private.
  case written(types: [String], isMember: Bool)

  init(
    _ type: TypeDeclaration, _ columns: [ColumnDeclaration], in scanner: SourceScanner
  ) throws {
    let isPrivate = columns.contains(where: \.property.prefix.access.isPrivate)
    guard type.initializerOffset != nil || isPrivate else {
      let isWhole = type.properties.allSatisfy { property in
        switch property.storage {
        case .stored:
          columns.contains { $0.property.offset == property.offset } || property.isConstant
        // The compiler's initializer takes it, with a value.
        case .lazy: false
        case .computed, .ofType: true
        }
      }
      self = isWhole ? .memberwise : .memberwiseWithDefaults
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
    // In an extension, or the compiler would make no initializer any more.
    self = .written(types: types, isMember: type.initializerOffset != nil)
  }
}
