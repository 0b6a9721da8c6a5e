import Foundation
import Larder
import LarderFleet
import ProofSupport

extension WrongAnswer {
  /// Runs a trial, and tells where it was if it throws.
  static func at<T>(_ place: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      throw WrongAnswer(description: "\(place): \(error)")
    }
  }

  /// Runs what has to throw one of the library's errors.
  static func expectError<T>(_ what: String, _ body: () throws -> T) throws {
    do {
      _ = try body()
    } catch  where isTyped(error) {
      return
    }
    throw WrongAnswer(description: "\(what) is no error")
  }

  /// Whether an error is one that the library declares.
  static func isTyped(_ error: any Error) -> Bool {
    switch error {
    case is DatabaseError, is ConversionError, is RecordError, is SchemaError, is MigrationError,
      is PageError, is FleetError:
      true
    default: false
    }
  }
}
