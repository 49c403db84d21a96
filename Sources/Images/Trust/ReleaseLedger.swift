package import Base

/// The releases that were trusted before; they prevent that an older one is accepted.
package struct ReleaseLedger: Sendable, Equatable {
    /// The highest release that was trusted for a kind of module.
    package struct Line: Sendable, Equatable {
        package let hardware: HardwareID
        package let counter: Int64
        package let version: FirmwareVersion
        /// The only older release that is still accepted, because this one requires it first.
        let predecessor: FirmwareVersion?
    }

    package private(set) var lines: [Line] = []

    package init() {}

    /// Nil when the bytes are not in the form of `bytes`.
    package init?(_ bytes: [UInt8]) {
        guard let document = try? JSONValue(json: bytes), document["form"]?.integer == 1,
            let list = document["releases"]?.array
        else { return nil }
        for element in list {
            guard let hardware = element["hardware"]?.string.flatMap({ HardwareID($0) }),
                let counter = element["counter"]?.integer,
                let version = element["version"]?.string.flatMap({ FirmwareVersion($0) })
            else { return nil }
            let before = element["predecessor"]?.string
            let predecessor = before.flatMap { FirmwareVersion($0) }
            guard (before == nil) == (predecessor == nil) else { return nil }
            lines.append(
                Line(
                    hardware: hardware,
                    counter: counter,
                    version: version,
                    predecessor: predecessor
                )
            )
        }
    }

    package var bytes: [UInt8] {
        let sorted = lines.sorted { $0.hardware.description < $1.hardware.description }
        return JSONValue.object([
            "form": 1,
            "releases": .array(
                sorted.map { line in
                    .object([
                        "hardware": .string(line.hardware.description),
                        "counter": .integer(line.counter),
                        "version": .string(line.version.description),
                        "predecessor": line.predecessor.map { .string($0.description) },
                    ])
                }
            ),
        ]).bytes
    }

    /// Records a release; counters only rise.
    package mutating func note(_ claim: ReleaseClaim, _ statement: ReleaseStatement) {
        guard let counter = statement.counter else { return }
        for id in statement.hardware.isEmpty ? [claim.hardware] : statement.hardware {
            if let known = lines.first(where: { $0.hardware == id }), known.counter >= counter {
                continue
            }
            lines.removeAll { $0.hardware == id }
            lines.append(
                Line(
                    hardware: id,
                    counter: counter,
                    version: claim.version,
                    predecessor: statement.predecessor
                )
            )
        }
    }
}

/// The use of an image that a manifest wants.
package struct ReleaseClaim: Sendable, Equatable {
    let image: String
    let hardware: HardwareID
    let version: FirmwareVersion
    package let digest: SHA256Digest

    package init(
        image: String,
        hardware: HardwareID,
        version: FirmwareVersion,
        digest: SHA256Digest
    ) {
        self.image = image
        self.hardware = hardware
        self.version = version
        self.digest = digest
    }
}
