package import Base
import Radio
import Store

/// A question to the operator's own program about a vehicle that runs its new image on trial.
package struct Judgement: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        case well
        /// Not yet, and the reason: the program is asked again until the time is over.
        case notYet(String)
        case unwell(String)
    }

    /// The program and its arguments.
    package let program: [String]
    package let vehicle: VehicleID
    package let serial: Serial
    /// The image's name in the manifest; its version follows.
    package let image: String
    package let version: FirmwareVersion
    package let adapter: String
    /// How long the program may take.
    package let limit: Duration
}

extension Judgement.Verdict {
    var health: UpdateSession.Health {
        switch self {
        case .well: .well
        case .notYet(let sentence): .notYet(sentence)
        case .unwell(let sentence): .failure(sentence)
        }
    }
}
