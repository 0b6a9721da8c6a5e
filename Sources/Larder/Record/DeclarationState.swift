/// What operations on a table have to know of its declaration; for most tables nothing.
@usableFromInline
struct DeclarationState: OptionSet {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It doesn't hold together.
  @inlinable static var wrong: Self { Self(rawValue: 1) }
  /// The initializer's parameters may stand in another order than the columns; see ``InitializerCheck``.
  @inlinable static var unproven: Self { Self(rawValue: 2) }
  /// It is only read.
  @inlinable static var view: Self { Self(rawValue: 4) }
  /// What can't be looked at while the table is made wasn't looked at yet; see ``DeclarationProblem``.
  @inlinable static var untried: Self { Self(rawValue: 16) }
  /// On some connection the table isn't what is declared; see ``TableFit``.
  @inlinable static var unlikeDeclared: Self { Self(rawValue: 32) }
  /// The row id's property can't be set.
  @inlinable static var constantKey: Self { Self(rawValue: 8) }
}
