import Larder
import LarderSQLite

// Declared tables in the server's spelling. Only the server knows how it writes an expression, a type or a
// default that it was given. So it is asked: a temporary table is made and read.

extension PostgresDefinitions {
  func spelled(
    _ declared: TableSchema, draft: [String], in db: Database
  ) throws -> TableSchema {
    do {
      return try db.inSavepoint { db in
        for statement in draft {
          var sql = SQL(raw: statement)
          sql.isCacheable = false
          try db.executeUpdate(sql)
        }
        guard let spelled = try TableSchema.found(declared.name, in: db, schema: "temp") else {
          throw SchemaError.noTable(declared.name)
        }
        db.setRollbackOnly()
        return declared.with(spelled)
      }
    } catch let error as DatabaseError where error.code == .readOnly {
      throw Self.unsupported(
        "comparing a schema with its declaration in a read scope: that takes a temporary table, so "
          + "use inDatabase or inTransaction")
    }
  }
}

extension TableSchema {
  /// The server's spelling, completed by the parts that a temporary table doesn't have, and by the declared
  /// statements.
  fileprivate func with(_ spelled: TableSchema) -> TableSchema {
    var table = spelled
    table.schema = schema
    table.isInCurrentSchema = false
    table.foreignKeys = foreignKeys
    var unreferenced = spelled
    unreferenced.schema = schema
    unreferenced.writeStatement()
    table.unreferencedSQL = unreferenced.sql
    for key in foreignKeys {
      if key.columns.count == 1,
        let index = table.columns.firstIndex(where: { $0.name == key.columns[0] })
      {
        table.columns[index].sql += " \(key.clause)"
        table.columns[index].isReference = true
      } else {
        table.constraints.append("FOREIGN KEY \(key.sql)")
      }
    }
    for index in table.indexes.indices {
      let name = table.indexes[index].name
      if let declared = indexes.first(where: { $0.name == name }) {
        table.indexes[index].sql = declared.sql
      }
    }
    table.writeStatement()
    return table
  }
}
