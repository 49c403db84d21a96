import Domain

/// What follows from an event in one of the machines of an update.
package enum UpdateTurn: Equatable, Sendable {
    /// The machine goes on, and this is to be done.
    case act(UpdateSession.Action)

    // What another machine goes on with.

    /// End our side of the link, and make another one after a pause.
    case leave(for: UpdateApproach.Errand, pause: Duration)
    /// Connect to what was just heard in this role.
    case connect(for: UpdateApproach.Errand, ModuleRole)
    /// There is a link: what does the module have of the image?
    case probe(UpdateTransfer.Reason)
    /// Wait for the module to come to rest, on a link or without one.
    case settle(UpdateProof.Aim, isLinked: Bool)
    /// There is a link: make the module go back.
    case rollBack(because: String)
    case end(UpdateEnding)

    static func fail(_ failure: FailureClass, _ sentence: String) -> UpdateTurn {
        .end(.failed(UpdateFault(failure, sentence)))
    }

    /// The fault of a question that was not answered in time.
    static func silence(_ label: String) -> UpdateFault {
        UpdateFault(.transient, "\(label): no answer in time")
    }
}
