package import Domain

/// What a module says it is and runs, as far as it decides about an update.
package struct ModuleFirmware: Equatable, Sendable {
    package let family: Family
    /// Which combination of module and vehicle it is made for; nil when the module does not say.
    package let type: Int?
    package let variant: Int?
    /// The version of the part that the image replaces; nil when it cannot be read.
    package let version: FirmwareVersion?
    /// It runs this very build, by the names that it has for what runs; nil where it has none.
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

/// What an image is, and what it fits.
package struct ImageFirmware: Equatable, Sendable {
    /// As the manifest calls it.
    package let name: String
    package let version: FirmwareVersion
    package let family: Family
    /// Nil fits every type.
    package let type: Int?
    /// Nil fits every variant.
    package let variant: Int?
    /// What a module must run, or something newer, before it may have this one.
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

/// What the manifest allows beyond the plain case.
package struct UpdatePolicy: Equatable, Sendable {
    /// An older version than the one that runs may be put on.
    package let allowsDowngrade: Bool
    /// The image is a stage on the way to another one: a module beyond it is past it.
    package let isWaypoint: Bool

    package init(allowsDowngrade: Bool = false, isWaypoint: Bool = false) {
        self.allowsDowngrade = allowsDowngrade
        self.isWaypoint = isWaypoint
    }
}

/// What is to be done about an update, decided from what was read and before anything is changed.
package enum UpdateDecision: Equatable, Sendable {
    case update
    case alreadyCurrent
    /// The module is beyond a stage of the way.
    case passed(FirmwareVersion)
    case rejected(Reason)

    package enum Reason: Equatable, Sendable {
        case family(image: String, wanted: Family, found: Family)
        case type(image: String, wanted: Int, found: Int?)
        case variant(image: String, wanted: Int, found: Int?)
        /// A module whose version is not known could be on a newer one.
        case unknownVersion(image: String)
        case downgrade(from: FirmwareVersion, to: FirmwareVersion)
        /// Its signer wants another release on the module first.
        case tooOld(image: String, needs: FirmwareVersion, running: FirmwareVersion)
    }

    /// Fitting comes first: what must not have the image is not called current with it either.
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
            // Two builds may bear one version: where the module tells them apart, that decides.
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
                + (found.map { "type \($0)" } ?? "a type it does not tell")
        case .variant(let image, let wanted, let found):
            "the image \(image) is for variant \(wanted), the module is of "
                + (found.map { "variant \($0)" } ?? "a variant it does not tell")
        case .unknownVersion(let image):
            "the module does not tell its version, so \(image) could be older; write "
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
