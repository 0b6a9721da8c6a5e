import Foundation
import Larder
import ProofSupport
import TestSupport

/// The database file, its log or its index is moved, removed or replaced at a random moment beside everything that has
/// it open. Nothing that was acknowledged is missing from the file that was open, no other file has changed, and every
/// later write throws.
enum MovedFile: ProofRow {
  static let name = "moved-file"
  static let number = 23
  static let unit = "mishaps"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    var rows = 0
    let count = options.count ?? 300
    while result.tried < count, options.goesOn(after: result.tried) {
      let scratch = try ScratchFolder(inMemory: true)
      let trial = MovedFileTrial(
        folder: scratch.path, mishap: Mishap.allCases[result.tried % Mishap.allCases.count],
        random: &random)
      do {
        rows += try trial.run()
      } catch {
        result.failures.append("seed \(options.seed), mishap \(result.tried), \(trial): \(error)")
      }
      result.tried += 1
      if result.failures.count >= 20 { break }
    }
    result.details = ["\(rows) rows acknowledged"]
    return result
  }
}

/// What happens to the file.
enum Mishap: CaseIterable {
  case deleted, renamed, replaced, replacedByOlderCopy, logDeleted, indexDeleted, folderRenamed
  case linkTurned, comesBack, unsearchable

  /// Whether it is undone again, so that writing goes on.
  var passes: Bool { self == .comesBack || self == .unsearchable }
}

/// The files of a trial.
struct MovedFiles {
  let folder: String
  var home: String { folder + "/home" }
  var file: String { home + "/main.db" }
  /// A path that leads to the file over a link.
  var link: String { folder + "/link.db" }
  /// A second name of the file that is open, by which it is found again.
  var kept: String { folder + "/kept.db" }
  /// Another database, and an older copy of this one.
  var foreign: String { folder + "/foreign.db" }

  func happen(_ mishap: Mishap) throws {
    let code =
      switch mishap {
      case .deleted: unlink(file)
      case .renamed, .comesBack: rename(file, home + "/old.db")
      case .replaced, .replacedByOlderCopy: rename(foreign, file)
      case .logDeleted: unlink(file + "-wal")
      case .indexDeleted: unlink(file + "-shm")
      case .folderRenamed: rename(home, folder + "/elsewhere")
      case .linkTurned: unlink(link) + symlink(foreign, link)
      case .unsearchable: chmod(home, 0)
      }
    guard code == 0 else {
      throw WrongAnswer(description: "\(mishap): \(String(cString: strerror(errno)))")
    }
  }

  func undo(_ mishap: Mishap) {
    switch mishap {
    case .comesBack: rename(home + "/old.db", file)
    case .unsearchable: chmod(home, 0o700)
    default: break
    }
  }
}
