/// The counts of what trials of replication have done.
struct ReplicationFigures {
  var positions = 0
  var files = 0
  var acknowledged = 0
  var generations = 0
  var comparisons = 0
  var journals = 0
  var contents = 0
  var replaced = 0
  var reads = 0
  var upkeeps = 0
  var removed = 0
  var faults = 0
  var outages = 0
  var gaps = 0
  var kills = 0
  var takeovers = 0
  var late = 0
  var fills = 0
  var damages = 0
  var noticed = 0

  private static var all: [WritableKeyPath<Self, Int>] {
    [
      \.positions, \.files, \.acknowledged, \.generations, \.comparisons, \.journals, \.contents,
      \.replaced, \.reads, \.upkeeps, \.removed, \.faults, \.outages, \.gaps, \.kills,
      \.takeovers, \.late, \.fills, \.damages, \.noticed,
    ]
  }

  static func += (sum: inout Self, other: Self) {
    for figure in all { sum[keyPath: figure] += other[keyPath: figure] }
  }

  var details: [String] {
    [
      "\(files) files byte for byte", "\(acknowledged) acknowledged commits there",
      "\(generations) generations", "\(comparisons) comparisons of all pages",
      "\(journals) changes of the journal or the size of pages, \(contents) of the content",
      "\(replaced) files replaced", "\(faults) faults of the sink", "\(outages) long outages",
      "\(kills) kills", "\(takeovers) takeovers, \(late) by owners that were frozen",
      "\(fills) full disks", "\(damages) damaged or missing objects, \(noticed) in the way",
      "\(gaps) times in named gaps", "\(reads) reads of copies that follow",
      "\(upkeeps) rounds of merging and removing, \(removed) points removed",
    ]
  }
}
