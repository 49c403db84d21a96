package import Domain
package import Families
import Modules

/// What opens a vehicle's GO device: a token that is there, or one that is fetched when it is needed.
package struct TokenSupply: Sendable {
    /// Why there is none.
    package enum Fault: Error, Sendable, Equatable {
        /// It may be had later: anyone who hands it out does not answer.
        case later(String)
        /// It is another vehicle's, or no token at all.
        case wrong(String)
    }

    private let token: @Sendable (WallTime) async -> Result<CarShareCredentials, Fault>
    private var profile: Profile?

    package init(
        _ token: @escaping @Sendable (WallTime) async -> Result<CarShareCredentials, Fault>
    ) { self.token = token }

    /// A token that is there.
    package init(_ credentials: CarShareCredentials) {
        token = { _ in .success(credentials) }
    }

    /// For a vehicle whose profile has the socket's characteristics elsewhere.
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
