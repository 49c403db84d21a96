import Base
package import Radio

extension ProfileLibrary {
    /// The profiles that are part of the program.
    package static let shipped: ProfileLibrary = {
        let diagnostics = Diagnostics()
        let profiles = FamilyRegistry.profiles.compactMap {
            Profile.parse($0.bytes, file: $0.name, diagnostics)
        }
        precondition(!diagnostics.hasErrors, "a profile that is shipped has mistakes")
        return ProfileLibrary(
            profiles,
            of: FamilyRegistry.shapes,
            bootloader: { FamilyRegistry.bootloader(of: $0) }
        )
    }()
}
