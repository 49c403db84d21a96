package import Domain

/// Where a connection gets the profile of a module from.
package struct ProfileSource: Sendable {
    package enum Failure: Error, Sendable, Hashable {
        case invalidAPIKey
        /// It could not be fetched; in words.
        case network(String)
        /// There is none; in words.
        case unknown(String)
    }

    package let profile: @Sendable (Serial) async -> Result<Profile, Failure>

    package init(_ profile: @escaping @Sendable (Serial) async -> Result<Profile, Failure>) {
        self.profile = profile
    }

    /// One profile for every module.
    package static func of(_ profile: Profile) -> ProfileSource {
        ProfileSource { _ in .success(profile) }
    }
}
