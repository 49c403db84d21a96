import Base
package import Radio

extension ProfileSource {
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
