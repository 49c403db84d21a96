package import Base

/// The images that a module should run after an SMP update.
package struct SMPGoal: Equatable, Sendable {
    /// One file that can be sent.
    package struct Candidate: Equatable, Sendable {
        /// The slot that it is linked for; nil when it runs from any slot.
        package let slot: Int?
        package let version: FirmwareVersion
        /// The hash by which the bootloader and the device identify the image.
        package let hash: [UInt8]
        /// The hash that the device lists when the image runs; another one than `hash` when the
        /// bootloader decompresses the image.
        package let installedHash: [UInt8]
        /// The length of the file.
        package let size: Int
        package let dependencies: [MCUbootImage.Dependency]

        package init(
            slot: Int? = nil,
            version: FirmwareVersion,
            hash: [UInt8],
            installedHash: [UInt8]? = nil,
            size: Int,
            dependencies: [MCUbootImage.Dependency] = []
        ) {
            self.slot = slot
            self.version = version
            self.hash = hash
            self.installedHash = installedHash ?? hash
            self.size = size
            self.dependencies = dependencies
        }
    }

    /// One of the module's images.
    package struct Part: Equatable, Sendable {
        package let image: Int
        /// One candidate, or one for each slot when images run in place.
        package let candidates: [Candidate]
        /// False for a processor whose bootloader cannot return to the old image, such as a network
        /// core.
        package let canRevert: Bool

        package init(image: Int, candidates: [Candidate], canRevert: Bool = true) {
            self.image = image
            self.candidates = candidates
            self.canRevert = canRevert
        }

        package func isOne(_ found: SMPImage?) -> Bool {
            found.flatMap { candidate(for: $0) } != nil
        }

        /// The candidate that a device lists: by its hash, or by its version when the device
        /// reports no hash.
        package func candidate(for found: SMPImage) -> Candidate? {
            if let hash = found.hash {
                return candidates.first { $0.hash == hash || $0.installedHash == hash }
            }
            let sameVersion = candidates.filter { $0.version == found.version }
            return sameVersion.first { $0.slot == found.slot } ?? sameVersion.first
        }
    }

    /// The parts in the order in which they are marked: the main image is last, because a
    /// bootloader that finds it marked first ignores the others.
    package let parts: [Part]

    /// Nil when there is nothing to install, or two parts are for one image.
    package init?(parts: [Part]) {
        guard !parts.isEmpty, Set(parts.map(\.image)).count == parts.count,
            parts.allSatisfy({ !$0.candidates.isEmpty })
        else { return nil }
        self.parts = parts.sorted { $0.image > $1.image }
    }

    /// The state of each part in the module.
    ///
    /// A processor does not list what another one runs, but only what waits for it: with nothing listed, the image of a
    /// network core runs when the main image does, because both are started together.
    package func standings(in list: SMPImageList) -> [(part: Part, standing: SMPStanding)] {
        let isMainRunning = parts.last.map { SMPStanding($0, in: list).isRunning } ?? false
        return parts.map { part in
            let isHidden = !part.canRevert && !list.images.contains { $0.image == part.image }
            let runs = isHidden && isMainRunning
            return (part, runs ? .installed : SMPStanding(part, in: list))
        }
    }
}

/// The state of one part of the goal in the module.
package enum SMPStanding: Equatable {
    case absent
    /// In the slot that does not run.
    case staged(SMPImage)
    /// It runs on trial: the bootloader returns to the old image at the next start.
    case trying
    case installed

    fileprivate init(_ part: SMPGoal.Part, in list: SMPImageList) {
        if let active = list.active(part.image), part.isOne(active) {
            self = active.flags.contains(.confirmed) ? .installed : .trying
        } else if let staged = list.others(part.image).first(where: { part.isOne($0) }) {
            self = .staged(staged)
        } else {
            self = .absent
        }
    }

    package var isRunning: Bool { self == .trying || self == .installed }
}
