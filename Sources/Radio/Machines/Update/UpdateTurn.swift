import Base

/// The result of an event in one of the machines of an update.
package enum UpdateTurn: Equatable, Sendable {
    /// The same machine continues with this action.
    case act(UpdateSession.Action)

    // The following cases hand over to another machine.

    /// Close our side of the link, and make a new one after a pause.
    case leave(for: UpdateApproach.Errand, pause: Duration)
    /// Connect to the module that was just heard in this role.
    case connect(for: UpdateApproach.Errand, ModuleRole)
    /// Ask over the link what the module has of the image.
    case probe(UpdateTransfer.Reason)
    /// Wait for the module to come to rest, on a link or without one.
    case settle(UpdateProof.Aim, isLinked: Bool)
    /// Make the module go back, over the link.
    case rollBack(because: String)
    case end(UpdateEnding)

    static func fail(_ failure: FailureClass, _ sentence: String) -> UpdateTurn {
        .end(.failed(UpdateFault(failure, sentence)))
    }

    /// The fault when a request was not answered in time.
    static func silence(_ label: String) -> UpdateFault {
        UpdateFault(.transient, "\(label): no answer in time")
    }
}
