/// Colours and weights of text on a terminal; for other outputs the text stays unchanged.
package enum Style {
  package static func bold(_ text: String) -> String { styled(text, "1") }
  package static func faint(_ text: String) -> String { styled(text, "2") }
  package static func red(_ text: String) -> String { styled(text, "31") }
  package static func green(_ text: String) -> String { styled(text, "32") }
  package static func yellow(_ text: String) -> String { styled(text, "33") }

  private static func styled(_ text: String, _ code: String) -> String {
    Output.showsColors ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
