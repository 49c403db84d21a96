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
        func isSame(_ other: PlannedImage) -> Bool {
            other.digest == image.digest && other.fits == image.fits
        }
        guard let known = images.first(where: isSame) else {
            let isTaken = images.contains { $0.name == image.name }
            let name =
                isTaken
                ? "\(image.name)-\(image.fits.family.rawValue)-\(image.digest.description.prefix(12))"
                : image.name
            images.append(image.pinned(as: name))
            images.sort { $0.name < $1.name }
            targets[serial] = Target(image: name, part: part)
            return
        }
        targets[serial] = Target(image: known.name, part: part)
    }

    // MARK: Its text beside the sources of the rollout

    package var text: String {
        let rows = targets.sorted { $0.key.text < $1.key.text }
        return JSONValue.object([
            "form": "yardmaster-way-back-1",
            "images": .array(images.map(\.wayBack)),
            "modules": .array(
                rows.map { serial, target in
                    .array([
                        .string(serial.text), .string(target.image), .string(target.part.rawValue),
                    ])
                }
            ),
        ]).text
    }

    /// Nil for text of another form.
    package init?(text: String) {
        guard let value = try? JSONValue(json: text), let images = value["images"]?.array,
            let modules = value["modules"]?.array
        else { return nil }
        self.images = images.compactMap { PlannedImage(wayBack: $0) }
        for module in modules {
            guard let row = module.array, row.count == 3,
                let serial = row[0].string.flatMap({ Serial($0) }), let image = row[1].string,
                let part = row[2].string.flatMap({ ModulePart(rawValue: $0) })
            else { return nil }
            targets[serial] = Target(image: image, part: part)
        }
        guard self.images.count == images.count else { return nil }
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
        var policy = rollout
        policy.again = .whenAsked
        // The run of the rollout ends at its next safe point.
        policy.overlap = .replace
        var plan = FrozenPlan(
            name: Self.rollback(of: name),
            vehicles: vehicles.compactMap { vehicle in
                way.targets[vehicle.serial].map {
                    vehicle.with(steps: vehicle.steps(to: $0, place))
                }
            },
            list: list,
            images: way.images,
            always: always,
            rollout: policy,
            radio: radio,
            settle: settle,
            connect: connect,
            fetch: fetch,
            trust: TrustPolicy(repositories: [], allowed: trust.allowed, denied: trust.denied),
            profiles: profiles,
            place: place
        )
        plan.holders = holders
        plan.notify = notify
        return plan
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
        PlannedImage(
            name: name,
            source: source,
            mirrors: mirrors,
            packing: packing,
            digest: digest,
            version: version,
            size: size,
            fits: fits,
            place: place
        )
    }

    /// An image that is known by its digest, in a file.
    package init(
        name: String,
        path: String,
        digest: SHA256Digest,
        version: FirmwareVersion,
        for family: Family
    ) {
        self.init(
            name: name,
            source: .file(FileReference(path, relativeTo: "")),
            digest: digest,
            version: version,
            size: nil,
            fits: Fits(family: family, type: nil, variant: nil),
            place: Place(file: path, line: 1, column: 1)
        )
    }

    /// Its facts, as the text of a way back has them.
    fileprivate var wayBack: JSONValue {
        let (kind, place): (String, String) =
            switch source {
            case .https(let url), .http(let url): ("url", url)
            case .file(let file): ("path", file.path)
            }
        return .object([
            "name": .string(name),
            "sha256": .string(digest.description),
            "version": .string(version.description),
            "size": size.map { .int($0.bytes) },
            "family": .string(fits.family.rawValue),
            "type": fits.type.map { .integer(Int64($0)) },
            "variant": fits.variant.map { .integer(Int64($0)) },
            "unpacked": packing.map { .string($0.digest.description) },
            "unpacked-size": packing.map { .int($0.size.bytes) },
            kind: .string(place),
        ])
    }

    fileprivate init?(wayBack value: JSONValue) {
        func number(_ name: String) -> UInt32? {
            value[name]?.integer.flatMap { UInt32(exactly: $0) }
        }
        func size(_ name: String) -> ByteCount? {
            value[name]?.integer.flatMap { Int(exactly: $0) }.flatMap { ByteCount(bytes: $0) }
        }
        func digest(_ name: String) -> SHA256Digest? {
            value[name]?.string.flatMap { SHA256Digest($0) }
        }
        let source: ImageSource? =
            if let path = value["path"]?.string {
                .file(FileReference(path, relativeTo: ""))
            } else {
                value["url"]?.string.flatMap { try? ImageSource($0, relativeTo: "") }
            }
        guard let name = value["name"]?.string, let digest = digest("sha256"),
            let version = value["version"]?.string.flatMap({ FirmwareVersion($0) }),
            let family = value["family"]?.string.flatMap({ Family(rawValue: $0) }), let source
        else { return nil }
        var packing: Packing?
        if let unpacked = SHA256Digest(value["unpacked"]?.string ?? ""),
            let bytes = size("unpacked-size")
        {
            packing = Packing(digest: unpacked, size: bytes)
        }
        self.init(
            name: name,
            source: source,
            packing: packing,
            digest: digest,
            version: version,
            size: size("size"),
            fits: Fits(family: family, type: number("type"), variant: number("variant")),
            place: Place(file: source.description, line: 1, column: 1)
        )
    }
}
