/// Jobs that wait, first come first served.
struct WaitingLine {
  /// Those from `head` on wait; nil where one has left.
  private var jobs: [Job?] = []
  private var head = 0
  private(set) var count = 0
  private var asynchronousCount = 0

  /// Whether jobs wait that no thread waits for.
  var hasAsynchronous: Bool { asynchronousCount > 0 }

  mutating func append(_ job: Job) {
    jobs.append(job)
    count += 1
    if job.isAsynchronous { asynchronousCount += 1 }
  }

  /// The first job, which stays in the line.
  mutating func first() -> Job? {
    while head < jobs.count {
      if let job = jobs[head] { return job }
      head += 1
    }
    jobs.removeAll(keepingCapacity: true)
    head = 0
    return nil
  }

  mutating func popFirst() -> Job? {
    guard let job = first() else { return nil }
    leave(at: head, job)
    // What has been served is given up once it is the greater part.
    if head > 64, head * 2 > jobs.count {
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }

  /// Takes a job out of the line; false if it isn't in it any more.
  mutating func remove(_ job: Job) -> Bool {
    guard let index = jobs[head...].firstIndex(where: { $0 === job }) else { return false }
    leave(at: index, job)
    return true
  }

  /// Takes all jobs out for which the condition holds.
  mutating func removeAll(where condition: (Job) -> Bool) -> [Job] {
    let removed = jobs[head...].compactMap { $0 }.filter(condition)
    for job in removed { _ = remove(job) }
    return removed
  }

  private mutating func leave(at index: Int, _ job: Job) {
    jobs[index] = nil
    count -= 1
    if job.isAsynchronous { asynchronousCount -= 1 }
  }
}
