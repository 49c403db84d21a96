package import Base
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

extension FamilyRegistry {
    private static let hexFamilies = Set(
        families.filter { family in
            let forms = ProfileLibrary.shipped.all.filter { $0.family == family }
                .compactMap(\.advertisement)
            return !forms.isEmpty && forms.allSatisfy { $0.serialDigits != nil }
        }
    )

    /// Whether the serials of a family are hex digits, by its shipped profiles.
    package static func hasHexSerials(_ family: Family) -> Bool { hexFamilies.contains(family) }

    /// Whether a profile of the family is part of the program.
    package static func ships(_ profile: String, of family: Family) -> Bool {
        ProfileLibrary.shipped.profile(profile, of: family) != nil
    }
}
