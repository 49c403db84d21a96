package import Base

/// Where a connection gets a module's profile from.
package struct ProfileSource: Sendable {
    package enum Failure: Error, Sendable, Hashable {
        /// The profile could not be fetched; the text says why.
        case network(String)
        /// There is no such profile; the text says why.
        case unknown(String)
    }

    package let profile: @Sendable (Serial) async -> Result<Profile, Failure>

    package init(_ profile: @escaping @Sendable (Serial) async -> Result<Profile, Failure>) {
        self.profile = profile
    }

    /// The same profile for every module.
    package static func of(_ profile: Profile) -> ProfileSource {
        ProfileSource { _ in .success(profile) }
    }
}
