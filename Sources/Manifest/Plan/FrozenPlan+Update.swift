package import Base

/// An image file that a person names, without a manifest that describes it.
package struct NamedImage: Sendable {
    package let path: String
    package let digest: SHA256Digest
    package let size: ByteCount
    package let version: FirmwareVersion
    /// The part of a module that it replaces.
    package let part: ModulePart

    package init(
        path: String,
        digest: SHA256Digest,
        size: ByteCount,
        version: FirmwareVersion,
        part: ModulePart
    ) {
        self.path = path
        self.digest = digest
        self.size = size
        self.version = version
        self.part = part
    }

    /// The name of the file, as an image may be called in a manifest.
    private var title: String {
        let word = Naming.word(of: path.split(separator: "/").last ?? "", else: 0x5F)
        let title = word.drop { "-.".contains($0) }.prefix(48)
        return title.isEmpty ? "image" : String(title)
    }

    /// The same image for the modules of one family.
    package func planned(for family: Family, among families: Int = 1) -> PlannedImage {
        PlannedImage(
            name: families == 1 ? title : "\(title)-\(family.rawValue)",
            path: path,
            digest: digest,
            version: version,
            size: size,
            for: family
        )
    }
}

extension FrozenPlan {
    /// One image for modules that a person names, with everything else as in a manifest that has
    /// only these.
    package init(
        updating modules: [PlannedVehicle],
        to image: NamedImage,
        allowsDowngrade: Bool,
        adapters: [String],
        as name: String
    ) {
        let place = Place(file: image.path, line: 1, column: 1)
        let usual = PolicyReader(diagnostics: Diagnostics())
        let radio = usual.radio(nil, at: place)
        let families = Set(modules.map(\.family))
        var images: [Family: PlannedImage] = [:]
        for family in families {
            images[family] = image.planned(for: family, among: families.count)
        }
        let vehicles = modules.map { module in
            module.with(
                steps: images[module.family].map { planned in
                    let update = UpdateStep(
                        image: planned.name,
                        part: image.part,
                        allowsDowngrade: allowsDowngrade,
                        healthy: [],
                        within: .seconds(120)
                    )
                    return [Step(.update(update), at: place)]
                } ?? []
            )
        }
        self.init(
            name: name,
            vehicles: vehicles,
            images: images.values.sorted { $0.name < $1.name },
            always: [],
            rollout: usual.rollout(nil, at: place),
            radio: RadioSettings(
                adapters: adapters,
                linksPerAdapter: radio.linksPerAdapter,
                takesTurns: radio.takesTurns
            ),
            settle: .usual,
            connect: usual.connect(nil, at: place),
            fetch: FetchPolicy(),
            trust: TrustPolicy(repositories: [], allowed: [], denied: []),
            place: place
        )
    }
}
