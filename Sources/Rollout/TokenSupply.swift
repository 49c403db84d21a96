package import Base
package import Families
import Radio

/// The token that opens a vehicle's GO device: known from the start, or fetched when it is needed.
package struct TokenSupply: Sendable {
    /// Why there is no token.
    package enum Fault: Error, Sendable, Equatable {
        /// It may be available later: its issuer does not answer.
        case later(String)
        /// It belongs to another vehicle, or is no token at all.
        case wrong(String)
    }

    private let token: @Sendable (WallTime) async -> Result<CarShareCredentials, Fault>
    private var profile: Profile?

    package init(
        _ token: @escaping @Sendable (WallTime) async -> Result<CarShareCredentials, Fault>
    ) { self.token = token }

    /// A token that is known from the start.
    package init(_ credentials: CarShareCredentials) {
        token = { _ in .success(credentials) }
    }

    /// The same supply for a profile that gives the socket other characteristics.
    func speaking(by profile: Profile) -> TokenSupply {
        var other = self
        other.profile = profile
        return other
    }

    func credentials(at time: WallTime) async throws(Fault) -> CarShareCredentials {
        let credentials = try await token(time).get()
        return profile.map { credentials.speaking(by: $0) } ?? credentials
    }
}
