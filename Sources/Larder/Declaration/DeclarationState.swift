/// Facts about a declaration that operations on its table have to check; empty for most tables.
@usableFromInline
struct DeclarationState: OptionSet {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable static var wrong: Self { Self(rawValue: 1) }
  /// The initializer's parameters may stand in another order than the columns; see ``InitializerCheck``.
  @inlinable static var uncheckedInitializer: Self { Self(rawValue: 2) }
  @inlinable static var view: Self { Self(rawValue: 4) }
  /// The checks that have to wait until the table is made haven't run yet; see ``DeclarationProblem``.
  @inlinable static var untried: Self { Self(rawValue: 16) }
  /// On some connection the database's table differs from the declaration; see ``TableFit``.
  @inlinable static var unlikeDeclared: Self { Self(rawValue: 32) }
  /// The record is a part of another one; see `Table.init(of:_:_:notStored:)`.
  @inlinable static var part: Self { Self(rawValue: 64) }
  /// The row id's property can't be set.
  @inlinable static var constantKey: Self { Self(rawValue: 8) }
}
