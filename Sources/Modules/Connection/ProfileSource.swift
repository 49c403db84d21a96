package import Domain
import Marked

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

    /// A profile of family `comodule` by its name.
    package static func named(
        _ name: String = Profile.generic,
        in library: ProfileLibrary
    ) -> ProfileSource {
        ProfileSource { _ in
            do throws(PropertyMistake) {
                return .success(try library.require(name, of: .comodule))
            } catch {
                return .failure(.unknown(error.description))
            }
        }
    }
}
