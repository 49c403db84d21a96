package import Base

/// A module's identity and firmware, as far as they decide about an update.
package struct ModuleFirmware: Equatable, Sendable {
    package let family: Family
    /// The combination of module and vehicle that it is made for; nil when the module does not
    /// report it.
    package let type: Int?
    package let variant: Int?
    /// The version of the part that the image replaces; nil when it cannot be read.
    package let version: FirmwareVersion?
    /// Whether it runs exactly this build, by its own identifiers of the running image; nil where
    /// it has none.
    package let isBuild: Bool?

    package init(
        family: Family,
        type: Int?,
        variant: Int?,
        version: FirmwareVersion?,
        isBuild: Bool? = nil
    ) {
        self.family = family
        self.type = type
        self.variant = variant
        self.version = version
        self.isBuild = isBuild
    }
}

/// An image's identity, and the modules that it fits.
package struct ImageFirmware: Equatable, Sendable {
    /// The name in the manifest.
    package let name: String
    package let version: FirmwareVersion
    package let family: Family
    /// Nil fits every type.
    package let type: Int?
    /// Nil fits every variant.
    package let variant: Int?
    /// The oldest version that a module must run before it may get this image.
    package let predecessor: FirmwareVersion?

    package init(
        name: String,
        version: FirmwareVersion,
        family: Family,
        type: Int? = nil,
        variant: Int? = nil,
        predecessor: FirmwareVersion? = nil
    ) {
        self.name = name
        self.version = version
        self.family = family
        self.type = type
        self.variant = variant
        self.predecessor = predecessor
    }
}

/// What the manifest allows in addition to a plain update.
package struct UpdatePolicy: Equatable, Sendable {
    /// Whether an older version than the running one may be installed.
    package let allowsDowngrade: Bool
    /// Whether the image is a stage on the way to another one, which a module with a newer version
    /// skips.
    package let isWaypoint: Bool

    package init(allowsDowngrade: Bool = false, isWaypoint: Bool = false) {
        self.allowsDowngrade = allowsDowngrade
        self.isWaypoint = isWaypoint
    }
}

/// The decision about an update, made from what was read and before anything is changed.
package enum UpdateDecision: Equatable, Sendable {
    case update
    case alreadyCurrent
    /// The module runs a newer version than this stage.
    case passed(FirmwareVersion)
    case rejected(Reason)

    package enum Reason: Equatable, Sendable {
        case family(image: String, wanted: Family, found: Family)
        case type(image: String, wanted: Int, found: Int?)
        case variant(image: String, wanted: Int, found: Int?)
        /// The module's version is unknown, so it could be newer.
        case unknownVersion(image: String)
        case downgrade(from: FirmwareVersion, to: FirmwareVersion)
        /// The image's signer requires another release on the module first.
        case tooOld(image: String, needs: FirmwareVersion, running: FirmwareVersion)
    }

    /// Checks first whether the image fits: a module that must not get the image is not called
    /// current with it either.
    package static func decide(
        current: ModuleFirmware,
        image: ImageFirmware,
        policy: UpdatePolicy
    ) -> UpdateDecision {
        if current.family != image.family {
            let found = current.family
            return .rejected(.family(image: image.name, wanted: image.family, found: found))
        }
        if let wanted = image.type, current.type != wanted {
            return .rejected(.type(image: image.name, wanted: wanted, found: current.type))
        }
        if let wanted = image.variant, current.variant != wanted {
            return .rejected(.variant(image: image.name, wanted: wanted, found: current.variant))
        }
        guard let running = current.version else {
            guard image.predecessor == nil else {
                return .rejected(.unknownVersion(image: image.name))
            }
            return policy.allowsDowngrade ? .update : .rejected(.unknownVersion(image: image.name))
        }
        if running == image.version {
            // Two builds may have the same version: where the module distinguishes them, that
            // decides.
            return current.isBuild == false ? .update : .alreadyCurrent
        }
        if let needs = image.predecessor, running < needs {
            return .rejected(.tooOld(image: image.name, needs: needs, running: running))
        }
        if policy.isWaypoint, running > image.version { return .passed(running) }
        if running > image.version && !policy.allowsDowngrade {
            return .rejected(.downgrade(from: running, to: image.version))
        }
        return .update
    }
}

extension UpdateDecision.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .family(let image, let wanted, let found):
            "the image \(image) is for \(wanted.rawValue) modules, the module is a "
                + found.rawValue
        case .type(let image, let wanted, let found):
            "the image \(image) is for type \(wanted), the module is of "
                + (found.map { "type \($0)" } ?? "an unknown type")
        case .variant(let image, let wanted, let found):
            "the image \(image) is for variant \(wanted), the module is of "
                + (found.map { "variant \($0)" } ?? "an unknown variant")
        case .unknownVersion(let image):
            "the module does not report its version, so \(image) could be older; write "
                + "`downgrade: allow` at the update if it may be"
        case .tooOld(let image, let needs, let running):
            "runs \(running), and \(image) is signed for modules that run \(needs) or newer: "
                + "update to that first"
        case .downgrade(let running, let wanted):
            "runs \(running), newer than \(wanted); write `downgrade: allow` at the update if it "
                + "is meant"
        }
    }
}
