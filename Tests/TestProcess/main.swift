import Foundation
import TestSupport

// What tests need another process for. Each role says what it has done in lines on its standard output.
//
//   test-process fork NAME FOLDER     checks what connections do in a forked process
//   test-process pay PATH FIRST       commits transactions of two tables until it is killed
//   test-process hold PATH            holds the lock for writing until a line comes in
//   test-process count PATH NUMBER    adds one to a counter that often
//   test-process execute PATH         executes each line of SQL that comes in, as a transaction
//   test-process migrate PATH COUNT   applies that many migrations
//   test-process backfill PATH        fills the rows of a table in batches
//   test-process fleet FOLDER COUNT   applies that many migrations to all databases of a fleet
//   test-process copies PATH FOLDER   pays while copies are made, until it is killed
//   test-process descriptors FOLDER COUNT  uses 200 databases of a fleet with that many descriptors
//   test-process shipped-fleet FOLDER COUNT  replicates that many databases of a fleet, all of them open
//   test-process unsearchable FOLDER  writes to a database whose folder it may not search for a while
//   test-process example              the example, in the folder where it is run

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch (arguments.first, arguments.count) {
  case ("fork", 3): exit(ForkCheck.run(arguments[1], in: arguments[2]))
  case ("pay", 3): try Paying.run(path: arguments[1], from: Int(arguments[2]) ?? 0)
  case ("hold", 2): try LockHolder.run(path: arguments[1])
  case ("count", 3): try Counting.run(path: arguments[1], Int(arguments[2]) ?? 0)
  case ("execute", 2): try Executing.run(path: arguments[1])
  case ("migrate", 3): try Migrating.run(path: arguments[1], count: Int(arguments[2]) ?? 0)
  case ("backfill", 2): try Backfilling.run(path: arguments[1])
  case ("fleet", 3): try MigratingFleet.run(folder: arguments[1], count: Int(arguments[2]) ?? 0)
  case ("copies", 3): try Copying.run(path: arguments[1], folder: arguments[2])
  case ("descriptors", 3): try Descriptors.run(folder: arguments[1], Int(arguments[2]) ?? 0)
  case ("shipped-fleet", 3):
    try ShippedFleet.run(folder: arguments[1], count: Int(arguments[2]) ?? 0)
  case ("unsearchable", 2): try Unsearchable.run(folder: arguments[1])
  case ("example", 1): try example()
  default: exit(64)
  }
} catch {
  Parent.tell("error: \(error)")
  exit(1)
}
