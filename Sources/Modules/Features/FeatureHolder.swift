package import Domain
package import Radio

/// A connected module that has features, of whatever family.
package protocol FeatureHolder: AnyObject {
    /// Tells the module; `payload` is not yet sealed, and no `nonce` may be used twice.
    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError)
}

/// Why a feature was not ordered, or nobody knows whether it was carried out.
package enum FeatureError: Error, Hashable, Sendable {
    /// What it takes to be let in is not there; in words.
    case noCredentials(String)
    /// It was sent, and nobody says what became of it.
    case inDoubt(String)
    case radio(RadioError)
    case failed(FailureClass, String)
}
