/// An element of a ``LinkedList``, of one at a time.
package protocol ListElement: AnyObject {
  associatedtype Listed: AnyObject
  var links: ListLinks<Listed> { get set }
}

/// The place of an element in its list.
package struct ListLinks<Element: AnyObject> {
  fileprivate var next: Element?
  /// Unowned: the list keeps all of its elements alive by ``next``.
  fileprivate unowned(unsafe) var previous: Element?
  package fileprivate(set) var isListed = false

  package init() {}
}

/// An intrusive doubly linked list, so that joining at the ends, taking the first and leaving from the middle
/// cost O(1) each.
package struct LinkedList<Element: ListElement> where Element.Listed == Element {
  package private(set) var first: Element?
  private unowned(unsafe) var last: Element?
  package private(set) var count = 0

  package init() {}

  package func element(after element: Element) -> Element? { element.links.next }

  package mutating func append(_ element: Element) {
    element.links.isListed = true
    element.links.previous = last
    if let last { last.links.next = element } else { first = element }
    last = element
    count += 1
  }

  package mutating func prepend(_ element: Element) {
    element.links.isListed = true
    element.links.next = first
    if let first { first.links.previous = element } else { last = element }
    first = element
    count += 1
  }

  /// Removes an element, wherever it is. It must be in this list.
  package mutating func remove(_ element: Element) {
    let (previous, next) = (element.links.previous, element.links.next)
    if let previous { previous.links.next = next } else { first = next }
    if let next { next.links.previous = previous } else { last = previous }
    element.links = ListLinks()
    count -= 1
  }

  package mutating func popFirst() -> Element? {
    guard let first else { return nil }
    remove(first)
    return first
  }
}
