/// A progress bar on standard error, if that is a terminal, with the remaining time of long work.
package struct ProgressBar {
  private let title: String
  private let isShown = Output.errorsGoToTerminal
  private let start = ContinuousClock.now
  private var shown = ""

  package init(_ title: String) { self.title = title }

  /// Shows the fraction that is done, from 0 to 1.
  package mutating func show(_ part: Double) {
    guard isShown else { return }
    let text = Self.text(part, after: ContinuousClock.now - start)
    guard text != shown else { return }
    shown = text
    // Clears to the end of the line, since the previous text may have been longer.
    Output.write("\r\(title) \(text)\u{1B}[K")
  }

  package func clear() {
    if !shown.isEmpty { Output.write("\r\u{1B}[K") }
  }

  /// The bar without its title.
  package static func text(_ part: Double, after elapsed: Duration) -> String {
    let percent = part.isNaN ? 0 : Int(max(0, min(1, part)) * 100)
    let full = String(repeating: "█", count: percent / 4)
    let empty = String(repeating: "░", count: 25 - percent / 4)
    let left = timeLeft(part, after: elapsed).map { ", \($0) left" } ?? ""
    return "\(full)\(empty) \(percent) %\(left)"
  }

  /// The remaining time, at the average pace so far; nil if there is no good estimate.
  package static func timeLeft(_ part: Double, after elapsed: Duration) -> String? {
    // In the first two seconds there is no estimate yet; finished work needs none.
    guard elapsed >= .seconds(2), part > 0, part < 1 else { return nil }
    let seconds = elapsed / .seconds(1) * (1 - part) / part
    // Rounded coarsely, so that the text doesn't flicker.
    return switch seconds {
    case ..<10: "\(Int(seconds.rounded(.up))) s"
    case ..<90: "\(Int((seconds / 5).rounded(.up)) * 5) s"
    case ..<5400: "\(Int((seconds / 60).rounded(.up))) min"
    case ..<360_000: "\(Int((seconds / 3600).rounded(.up))) h"
    default: nil
    }
  }
}
