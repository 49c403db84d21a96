package import Base

/// The images that modules of a rollout go back to.
package struct WayBack: Sendable, Equatable {
    package struct Target: Sendable, Equatable {
        /// The name of the image in `images`.
        let image: String
        let part: ModulePart
    }

    /// Sorted by name.
    package private(set) var images: [PlannedImage] = []
    package private(set) var targets: [Serial: Target] = [:]

    package init() {}

    /// Brings the module back to an image, whose name is made unique.
    package mutating func bring(_ serial: Serial, to image: PlannedImage, part: ModulePart) {
        var name = image.name
        if let known = images.first(where: { $0.digest == image.digest && $0.fits == image.fits }) {
            name = known.name
        } else {
            if images.contains(where: { $0.name == name }) {
                name += "-\(image.fits.family.rawValue)-\(image.digest.description.prefix(12))"
            }
            images.append(image.pinned(as: name))
            images.sort { $0.name < $1.name }
        }
        targets[serial] = Target(image: name, part: part)
    }

    // MARK: Its text beside the sources of the rollout

    /// The images are written as in a manifest.
    package var text: String {
        let rows = targets.sorted { $0.key.text < $1.key.text }
        return JSONValue.object([
            "form": "yardmaster-way-back-2",
            "images": .object(images.map { JSONMember($0.name, $0.written) }),
            "modules": .array(
                rows.map { serial, target in
                    [.string(serial.text), .string(target.image), .string(target.part.rawValue)]
                }
            ),
        ]).text
    }

    /// Nil for text of another form.
    package init?(text: String) {
        let reader = ImageReader(diagnostics: Diagnostics(), directory: "")
        guard let value = try? JSONValue(json: text), let images = value["images"],
            let modules = value["modules"]?.array,
            let entries = SourceNode.parse(Array(images.text.utf8), file: "", reader.diagnostics)?
                .entries(reader.diagnostics, of: "images")
        else { return nil }
        self.images = entries.compactMap(reader.image)
        for module in modules {
            guard let row = module.array, row.count == 3,
                let serial = row[0].string.flatMap({ Serial($0) }), let image = row[1].string,
                let part = row[2].string.flatMap({ ModulePart(rawValue: $0) })
            else { return nil }
            targets[serial] = Target(image: image, part: part)
        }
        guard self.images.count == entries.count else { return nil }
    }
}

extension FrozenPlan {
    /// The suffix of a plan's name when its vehicles are brought back.
    private static let wayBack = "-rollback"

    /// The name of the rollout that brings the vehicles of this one back.
    package static func rollback(of rollout: String) -> String { rollout + wayBack }

    /// The name of the rollout that a rollout of this name brings back; nil where it brings back
    /// none.
    package static func rolledBack(by name: String) -> String? {
        name.hasSuffix(wayBack) ? String(name.dropLast(wayBack.count)) : nil
    }

    /// The same fleet with other work: each module goes back to its image, with the same conditions,
    /// waves, windows and gates.
    package func returning(_ way: WayBack) -> FrozenPlan {
        with(name: Self.rollback(of: name)) { plan in
            plan.vehicles = vehicles.compactMap { vehicle in
                way.targets[vehicle.serial].map {
                    vehicle.with(steps: vehicle.steps(to: $0, place))
                }
            }
            (plan.images, plan.always, plan.notify) = (way.images, always, notify)
            plan.rollout.again = .whenAsked
            // The run of the rollout ends at its next safe point.
            plan.rollout.overlap = .replace
            plan.trust = TrustPolicy(
                repositories: [],
                allowed: trust.allowed,
                denied: trust.denied
            )
        }
    }
}

extension PlannedVehicle {
    /// What must hold before its update, and the update back.
    fileprivate func steps(to target: WayBack.Target, _ place: Place) -> [Step] {
        let before = steps.prefix { $0.update == nil }.filter {
            if case .require = $0.action { true } else { false }
        }
        let update = UpdateStep(
            image: target.image,
            part: target.part,
            allowsDowngrade: true,
            allowsConfirmed: true,
            healthy: [],
            within: .seconds(120)
        )
        return before + [Step(.update(update), at: place)]
    }
}

extension PlannedImage {
    /// The same image by its digest alone, which was trusted before.
    fileprivate func pinned(as name: String) -> PlannedImage {
        var image = self
        (image.name, image.trust, image.attachments, image.predecessor) = (name, .digest, [], nil)
        return image
    }

    /// An image that is known by its digest, in a file.
    package init(
        name: String,
        path: String,
        digest: SHA256Digest,
        version: FirmwareVersion,
        size: ByteCount? = nil,
        for family: Family
    ) {
        self.init(
            name: name,
            source: .file(FileReference(path, relativeTo: "")),
            digest: digest,
            version: version,
            size: size,
            fits: Fits(family: family, type: nil, variant: nil),
            place: Place(file: path, line: 1, column: 1)
        )
    }

    /// What a manifest says of it.
    fileprivate var written: JSONValue {
        let (url, isPlain): (String, Bool) =
            switch source {
            case .https(let url): (url, false)
            case .http(let url): (url, true)
            case .file(let file): (FileReference.url(file.path), false)
            }
        return .object([
            "url": .string(url),
            "allow-http": isPlain ? true : nil,
            "sha256": .string(digest.description),
            "version": .string(version.description),
            "size": size.map { .int($0.bytes) },
            "fits": .object([
                "family": .string(fits.family.rawValue),
                "type": fits.type.map { .integer(Int64($0)) },
                "variant": fits.variant.map { .integer(Int64($0)) },
            ]),
            "gzip": packing.map { packing in
                .object([
                    "sha256": .string(packing.digest.description), "size": .int(packing.size.bytes),
                ])
            },
        ])
    }
}
