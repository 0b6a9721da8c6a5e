/// The tasks that public calls are for, in the order of the page.
///
/// The file is Markdown: an introduction that isn't copied, headings, a paragraph below each, and list items that name calls. An item is a call
/// (`Query.filter(_:)`), all calls with a name (`Query.filter`), all members of a type (`Query`), or a member of any
/// type (`*.description`). The most specific one counts. Calls below the heading “Not on the page” aren't listed.
struct TaskList {
  private struct Heading {
    let title: String
    var text: [String] = []
    var items: [String] = []
  }

  private var headings: [Heading] = []
  private static let unlisted = "## Not on the page"
  private static let head = """
    # Every call, by task

    All public calls with their signatures, by what one wants to do.

    ## Overview

    `Type.name` is a method of a value of the type, `static Type.name` one of the type itself, and `Type(…)` makes a
    value. Properties, cases and operators of a type share a line. `// also async` stands for a second form that is
    called with `await`, `// another form` for one that takes, say, an Optional. Attributes, and conditions such as
    `Value : Sendable`, are left out. Each call's own page says what it throws.

    """

  init(lines: [String]) {
    for line in lines {
      if line.hasPrefix("##") {
        headings.append(Heading(title: line))
      } else if headings.isEmpty {
        continue
      } else if line.hasPrefix("- ") {
        headings[headings.count - 1].items.append(String(line.dropFirst(2)))
      } else {
        headings[headings.count - 1].text.append(line)
      }
    }
  }

  /// The names that an item may have to mean this symbol, the most specific one first.
  private func candidates(for symbol: Symbol) -> [String] {
    let base = (symbol.path.dropLast() + [symbol.baseName]).joined(separator: ".")
    let types = (1..<max(1, symbol.path.count)).reversed()
      .map { symbol.path.prefix($0).joined(separator: ".") }
    return [symbol.fullName, base, "*.\(symbol.name)"] + types
  }

  private func item(for symbol: Symbol, in items: Set<String>) -> String? {
    candidates(for: symbol).first { items.contains($0) }
  }

  /// What is wrong with the list: calls without a task, and items that mean nothing or that are there twice.
  func problems(with symbols: [Symbol]) -> [String] {
    let all = headings.flatMap(\.items)
    let items = Set(all)
    var unused = items
    var problems: [String] = []
    for symbol in symbols where !Symbol.types.contains(symbol.kind) {
      if let item = item(for: symbol, in: items) {
        unused.remove(item)
      } else {
        problems.append(
          "\(symbol.fullName) (\(symbol.module)) has no task: add a line “- \(symbol.fullName)” to"
            + " Tests/public-api/tasks.md, below the task that it is for")
      }
    }
    problems += unused.sorted().map {
      "tasks.md: \($0) names nothing that is public any more: remove it"
    }
    problems += Set(all.filter { item in all.count { $0 == item } > 1 }).sorted()
      .map { "tasks.md: \($0) is there twice" }
    return Array(Set(problems)).sorted()
  }

  /// The page's text.
  func page(of symbols: [Symbol]) -> String {
    let items = Set(headings.flatMap(\.items))
    let found = Dictionary(grouping: symbols.filter { !Symbol.types.contains($0.kind) }) {
      item(for: $0, in: items) ?? ""
    }
    var text = Self.head
    for heading in headings where heading.title != Self.unlisted {
      text += "\n\(heading.title)\n"
      if !heading.text.isEmpty { text += "\n" + heading.text.joined(separator: "\n") + "\n" }
      let calls = heading.items.flatMap { CallLines.lines(for: found[$0] ?? []) }
      if !calls.isEmpty { text += "\n" + calls.map { "    \($0)\n" }.joined() }
    }
    return text
  }
}
