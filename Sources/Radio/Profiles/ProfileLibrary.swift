package import Base

/// The known profiles: the built-in ones and those of the operator.
package struct ProfileLibrary: Sendable {
    private struct Key: Hashable, Comparable {
        let family: String
        let name: String

        static func < (left: Key, right: Key) -> Bool {
            (left.family, left.name) < (right.family, right.name)
        }
    }

    private var profiles: [Key: Profile] = [:]
    /// In the order in which they are tried: a family's generic profile comes first.
    private var forms: [(profile: Profile, form: AdvertisementForm)] = []

    private let bootloader: @Sendable (Profile) -> BootloaderForm?
    /// What profiles of each family may contain.
    private var shapes: [ProfileShape]
    /// What makes the drivers of families that a program has brought along.
    private var makers: [Family: @Sendable (Profile, Secret?) -> any UpdateDriver] = [:]

    package init(
        _ profiles: [Profile] = [],
        of shapes: [ProfileShape] = [],
        bootloader: @escaping @Sendable (Profile) -> BootloaderForm? = { _ in nil }
    ) {
        self.bootloader = bootloader
        self.shapes = shapes
        for profile in profiles { add(profile) }
    }

    private mutating func add(_ profile: Profile) {
        profiles[Key(family: profile.family.rawValue, name: profile.name)] = profile
        let generic = all.filter { $0.name == Profile.generic }
        let others = all.filter { $0.name != Profile.generic }
        forms = (generic + others).compactMap { profile in
            profile.advertisement.map { (profile, $0) }
        }
    }

    /// Sorted by family, then by name.
    package var all: [Profile] { profiles.sorted { $0.key < $1.key }.map(\.value) }

    package func profile(_ name: String, of family: Family) -> Profile? {
        profiles[Key(family: family.rawValue, name: name)]
    }

    /// The names of a family's profiles, sorted: for hints.
    package func names(of family: Family) -> [String] {
        all.filter { $0.family == family }.map(\.name)
    }

    /// The profile; throws a mistake with a hint when there is none.
    package func require(
        _ name: String,
        of family: Family
    ) throws(PropertyMistake) -> Profile {
        if let profile = profile(name, of: family) { return profile }
        throw PropertyMistake(
            "family \(family.rawValue) has no profile \(quoted(name))",
            hint: Nearest.hint(name, among: names(of: family))
        )
    }

    /// The modules that the profiles recognise in an advertisement; a family's generic profile is
    /// tried first.
    ///
    /// Profiles of one family that find the same serial make one claim, which names all of them.
    package func claims(on advertisement: Advertisement) -> [ModuleClaim] {
        var claims: [ModuleClaim] = []
        func add(_ claim: ModuleClaim) {
            let known = claims.firstIndex {
                $0.serial == claim.serial && $0.family == claim.family
            }
            if let known {
                claims[known].profiles += claim.profiles
            } else {
                claims.append(claim)
            }
        }
        // A device with a bootloader name that we gave can be nothing else, so other profiles are
        // not tried.
        let started = forms.compactMap { profile, _ -> ModuleClaim? in
            bootloader(profile)?.serial(advertisement).map {
                ModuleClaim(by: profile, serial: $0, isBootloader: true)
            }
        }
        for (profile, form) in forms {
            guard started.isEmpty, let serial = form.serial(in: advertisement) else { continue }
            add(
                ModuleClaim(by: profile, serial: serial, isBootloader: false)
            )
        }
        for claim in started { add(claim) }
        return claims
    }

    /// The first of the claims.
    package func recognise(_ advertisement: Advertisement) -> ModuleClaim? {
        claims(on: advertisement).first
    }

    /// The recogniser of a profile's modules and of their bootloaders.
    package func recogniser(of profile: Profile) -> ModuleRecogniser {
        ModuleRecogniser(
            family: profile.family,
            form: profile.advertisement,
            bootloader: bootloader(profile)
        )
    }

    /// A copy with one more profile, which replaces the one with its family and name.
    package func adding(_ profile: Profile) -> ProfileLibrary {
        var library = self
        library.add(profile)
        return library
    }

    // MARK: Families of a program

    package var families: [Family] { shapes.map(\.family) }

    /// A copy with one more family, whose modules `driver` recognises, opens and updates.
    package func adding(
        _ shape: ProfileShape,
        driver: @escaping @Sendable (Profile, Secret?) -> any UpdateDriver
    ) -> ProfileLibrary {
        var library = self
        library.shapes.append(shape)
        library.makers[shape.family] = driver
        return library
    }

    /// The driver for a module of a program's family; nil for other families.
    package func driver(of profile: Profile, _ secret: Secret?) -> (any UpdateDriver)? {
        makers[profile.family]?(profile, secret)
    }

    /// Whether modules of this profile, of a program's family, need a secret.
    package func needsKey(_ profile: Profile) -> Bool {
        let shape = shapes.first { $0.family == profile.family }
        return shape?.keyed.contains(profile.authentication) ?? false
    }

    /// Adds a profile from memory; all mistakes in it go into `diagnostics`.
    package func adding(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> ProfileLibrary {
        Profile.parse(bytes, file: file, of: shapes, diagnostics).map { adding($0) } ?? self
    }

    // MARK: The operator's profiles

    /// Adds each `*.yaml` file of a folder; all mistakes in them go into `diagnostics`.
    ///
    /// A file replaces the built-in profile of its family and name. Two files of the folder may not
    /// have the same family and name.
    package func adding(
        folder: String,
        _ diagnostics: Diagnostics
    ) throws(FileError) -> ProfileLibrary {
        var library = self
        var seen: [Key: String] = [:]
        for name in try Self.files(in: folder) {
            let path = folder + "/" + name
            guard let profile = try Profile.load(path: path, of: shapes, diagnostics) else {
                continue
            }
            let key = Key(family: profile.family.rawValue, name: profile.name)
            if let first = seen[key] {
                diagnostics.error(
                    Place(file: path, line: 1, column: 1),
                    "the profile \(key.family)/\(key.name) is in \(first) already",
                    hint: "give one of them another name"
                )
            }
            seen[key] = name
            library.add(profile)
        }
        return library
    }

    /// The names of a folder's YAML files, sorted.
    package static func files(in folder: String) throws(FileError) -> [String] {
        do throws(FileFault) {
            return try Folder.names(in: folder).filter { name in
                !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
            }
        } catch { throw FileError(path: folder, reason: .system(errno: error.code)) }
    }
}
