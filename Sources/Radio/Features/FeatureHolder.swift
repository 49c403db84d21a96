package import Base

/// A connected module of any family that has features.
package protocol FeatureHolder: AnyObject {
    /// Sends the feature's command to the module. `payload` is not yet sealed, and no `nonce` may
    /// be used twice.
    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError)
}

/// Why a feature was not requested, or why its effect is unknown.
package enum FeatureError: Error, Hashable, Sendable {
    /// The credentials for it are missing; the text says which.
    case noCredentials(String)
    /// The command was sent, and it is not known whether the module carried it out.
    case inDoubt(String)
    case radio(RadioError)
    case failed(FailureClass, String)
}
