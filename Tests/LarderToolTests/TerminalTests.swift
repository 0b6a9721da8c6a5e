import LarderTerminal
import Testing

@Suite("Text for terminals")
struct TerminalTests {
  @Test("A text table aligns columns by display width")
  func table() {
    var table = TextTable(header: ["CITY", "N"], numbers: [1])
    table.add(["北京", "1"])
    table.add(["Cafe\u{301}", "22"])
    #expect(table.lines == ["CITY   N", "北京   1", "Cafe\u{301}  22"])
  }

  @Test("`printable` replaces control characters, and JSONText escapes them")
  func controls() {
    #expect(
      "a\u{1B}[2J\u{9B}\u{202E}\u{2066}\u{2028}b\n".printable
        == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}")
    #expect(JSONText.quoted("\u{9B}\"\\\n\u{0}é") == "\"\\u009b\\\"\\\\\\n\\u0000é\"")
  }

  @Test("A progress bar shows the time left after 2 seconds, rounded to steps that grow with it")
  func timeLeft() {
    func left(_ part: Double, _ seconds: Double) -> String? {
      ProgressBar.timeLeft(part, after: .seconds(seconds))
    }
    #expect(left(0.5, 1.9) == nil, "what has just begun")
    #expect(left(0.5, 2) == "2 s")
    #expect(left(0.75, 3) == "1 s")
    #expect(left(0.99, 20) == "1 s", "never none before the end")
    #expect(left(0.5, 10) == "10 s")
    #expect(left(0.5, 11) == "15 s")
    #expect(left(0.1, 10) == "2 min")
    #expect(left(0.25, 1200) == "60 min")
    #expect(left(0.01, 600) == "17 h")
    for part in [0, -1, 1, 2, Double.nan, .infinity, -.infinity] { #expect(left(part, 60) == nil) }
    for part in [1e-9, 1e-300, Double.leastNonzeroMagnitude] { #expect(left(part, 60) == nil) }
    #expect(ProgressBar.timeLeft(1e-300, after: .seconds(Int64.max)) == nil)
  }

  @Test("A progress bar's length and percentage show the completed fraction")
  func bar() {
    let (full, empty) = (String(repeating: "█", count: 10), String(repeating: "░", count: 15))
    #expect(ProgressBar.text(0.4, after: .zero) == "\(full)\(empty) 40 %")
    #expect(ProgressBar.text(0.4, after: .seconds(20)) == "\(full)\(empty) 40 %, 30 s left")
    for (part, percent) in [
      (-1.0, 0), (Double.nan, 0), (1.0, 100), (Double.infinity, 100), (0.999, 99),
    ] {
      let text = ProgressBar.text(part, after: .seconds(1))
      #expect(text.hasSuffix(" \(percent) %") && text.prefix(25).allSatisfy("█░".contains))
    }
  }
}
