/// Commands for the shell that are offered at the end of a run.
package struct RunOffers: Sendable, Equatable {
    /// Makes those for a rollout, whose name is known when its run ends.
    package typealias Maker = @Sendable (_ rollout: String) -> RunOffers

    /// Shows the vehicles that are not as required.
    let look: String
    let resume: String
    /// Begins the rollout again.
    let again: String
    /// Whether the same command goes on where the run has ended.
    let goesOn: Bool

    package init(look: String, resume: String, again: String, goesOn: Bool = true) {
        (self.look, self.resume, self.again) = (look, resume, again)
        self.goesOn = goesOn
    }

    /// What a person should do about a run that did not end well.
    package func next(exitCode: Int) -> String {
        switch exitCode {
        case 12: "\(look), then \(resume)"
        case 13: "\(again) begins it again, if it is wanted"
        case 11, 15, 130, 143:
            goesOn
                ? "run it again; \(look) says who is left"
                : "no run goes on with an order; \(look) says what to do about each"
        default: "\(look) says what to do about each"
        }
    }
}
