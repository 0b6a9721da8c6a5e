// The lists of all rules by theme, and the initializers of findings.

extension Rule {
  static let all: [Rule] =
    ofIntegrity + ofForeignKeys + ofIndexes + ofKeys + ofTypes + ofDates + ofTexts + ofStatements
    + ofFiles + ofQueries
}

extension ServerRule {
  static let all: [ServerRule] = ofConstraints + ofIndexes + ofNumbers + ofTypes + ofQueries
}

extension Finding {
  init(_ rule: Rule, _ evidence: Evidence) {
    self.init(
      rule: rule.name, severity: rule.severity, reason: rule.reason, evidence: evidence)
  }

  init(_ rule: ServerRule, _ evidence: Evidence) {
    self.init(
      rule: rule.name, severity: rule.severity, reason: rule.reason, evidence: evidence)
  }
}
