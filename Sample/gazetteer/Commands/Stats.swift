import Larder
import LarderTerminal

extension Command {
  static let stats = Command(
    name: "stats", summary: "Counts cities and people per continent and country."
  ) { invocation in
    let queue = try DatabaseLocation(invocation).openForReading()
    let statistics = try queue.read(Statistics.fetchAll)
    try Output.show(statistics, asJSON: invocation.wantsJSON) { statistics in
      var table = TextTable(
        "CONTINENT", "COUNTRY", "NAME", "CITIES", "PEOPLE", "LARGEST CITY", numbers: [3, 4])
      for row in statistics {
        table.add(
          row.continent, row.country ?? "", row.name, row.cities.grouped, row.people.grouped,
          row.largest ?? "")
      }
      return table
    }
  }
}
