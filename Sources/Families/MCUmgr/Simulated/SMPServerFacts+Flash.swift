import Base

extension SMPServerFacts: FlashFacts {
    /// The images and the values of a module as its plan describes it.
    init(plan: SMPModulePlan) {
        let images = plan.versions.enumerated().map { number, version in
            Image(active: Content(version: version, hash: Self.hash(of: version, image: number)))
        }
        self.init(images: images, values: plan.values)
    }

    /// The initial image exists nowhere: its hash is invented and always the same.
    private static func hash(of version: FirmwareVersion, image: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(CRC32.of(Array("\(image) \(version)".utf8))))
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    package mutating func keep(in fields: inout FlashFields) {
        fields.keep(&images, blank: Image(active: .blank)) { $0.keep(in: &$1) }
        fields.keep(&upload, blank: Upload(image: 0, length: 0, sha: [])) { $0.keep(in: &$1) }
        values.keep(in: &fields)
    }
}

extension SMPServerFacts.Content {
    fileprivate static var blank: Self { Self(version: FirmwareVersion(0, 0), hash: []) }

    fileprivate mutating func keep(in fields: inout FlashFields) {
        fields.keep(&version)
        fields.keep(&hash)
    }
}

extension SMPServerFacts.Image {
    fileprivate mutating func keep(in fields: inout FlashFields) {
        active.keep(in: &fields)
        fields.keep(&isConfirmed)
        fields.keep(&activeSlot)
        fields.keep(&otherHasRun)
        fields.keep(&otherWasTried)
        fields.keep(&mark)
        fields.keep(&markedAs)
        fields.keep(&other, blank: .blank) { $0.keep(in: &$1) }
    }
}

extension SMPServerFacts.Upload {
    fileprivate mutating func keep(in fields: inout FlashFields) {
        fields.keep(&image)
        fields.keep(&sha)
        fields.keep(&length)
        fields.keep(&offset)
        fields.keep(&erasedTo)
    }
}

extension SMPServerValues: FlashFacts {
    /// Statistics are not saved: they are the plan's, because a device counts from its start.
    package mutating func keep(in fields: inout FlashFields) {
        for map in [\Self.settings, \.saved, \.files] {
            var entries = self[keyPath: map].sorted { $0.key < $1.key }
            fields.keep(&entries, blank: ("", [])) {
                $1.keep(&$0.key)
                $1.keep(&$0.value)
            }
            self[keyPath: map] = Dictionary(entries) { _, last in last }
        }
    }
}
