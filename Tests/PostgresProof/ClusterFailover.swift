import Foundation
import LarderPostgres
import PostgresSupport

extension PostgresCluster {
  /// Kills the primary of two servers, has its standby take its place, and makes it that one's synchronous
  /// standby.
  func failOver(from primary: Int) throws {
    let standby = 1 - primary
    try kill(primary)
    try promote(standby)
    let watch = try oneStandby(addresses[standby])
    while try watch.value("SELECT pg_is_in_recovery()", as: Bool.self) != false { usleep(500) }
    try watch.close()
    try copy(primary, of: standby)
    try makeSynchronous(standby)
  }
}
