import Foundation
import Larder
import ProofSupport

/// Every type, in every way in which it is stored, with every operator: the rows are those that Swift
/// computes, or it is an error and nothing is written. What doesn't compile isn't here: see
/// Tests/must-not-compile.
///
/// Texts are compared byte by byte, and what has a coding of its own as it is stored.
enum TypesAndOperators: ProofRow {
  static let name = "types"
  static let number = 16
  static let unit = "values of each of \(subjects.count) types"

  static let subjects: [any TypeSubject.Type] = [
    Flags.self, Integers<Int8>.self, Integers<Int16>.self, Integers<Int32>.self,
    Integers<Int64>.self, Integers<Int>.self, Naturals<UInt8>.self, Naturals<UInt16>.self,
    Naturals<UInt32>.self, Naturals<UInt64>.self, Naturals<UInt>.self, Doubles.self, Floats.self,
    Texts.self, Bytes.self, Datas.self, URLs.self, Identities.self, IdentityTexts.self,
    LowercaseIdentityTexts.self,
    ShortDecimals.self, LongDecimals.self, Prices.self, Sizes.self, Kinds.self, TextIntegers.self,
    SecondDates.self, MillisecondDates.self, JulianDates.self, ISODates.self, SQLDates.self,
    FractionDates.self, Days.self, ISOSecondDates.self, PlainSecondDates.self,
    PlainMillisecondDates.self, PlainJulianDates.self, PlainISODates.self, PlainSQLDates.self,
    PlainFractionDates.self, PlainDays.self, PlainISOSecondDates.self,
  ]

  /// The rows that a condition is tried with at once, of two values each.
  private static let rowCount = 100

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var checks = 0
    let count = options.count ?? 1000
    while result.tried < count, options.goesOn(after: result.tried) {
      for subject in subjects {
        let seed = options.seed &+ UInt64(result.tried)
        let (failures, tried) = try check(subject, seed: seed)
        checks += tried
        result.failures += failures.map { "seed \(seed), \($0)" }
      }
      if result.failures.count > 40 { break }
      result.tried += 2 * rowCount
    }
    result.details = ["\(checks) conditions, orders, aggregates and assignments"]
    return result
  }

  private static func check<S: TypeSubject>(
    _ subject: S.Type, seed: UInt64
  ) throws -> (failures: [String], tried: Int) {
    var configuration = Configuration()
    configuration.dateFormat = S.dateFormat
    let db = try Database(configuration: configuration)
    var sampler = Sampler(seed: seed)
    var check = try TypeCheck<S>(db, &sampler, count: rowCount)
    try check.checkAll()
    return (check.failures, check.tried)
  }
}
