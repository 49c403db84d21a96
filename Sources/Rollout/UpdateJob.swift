package import Base
package import Radio

/// One update of a module, with its image in memory.
package struct UpdateJob: Sendable {
    /// The image's name in the manifest.
    package let name: String
    package let digest: SHA256Digest
    package let version: FirmwareVersion
    package let family: Family
    /// The part of the module that it replaces.
    package let target: ModulePart
    /// The hardware it is for; nil where the manifest leaves that open.
    package let type: Int?
    package let variant: Int?
    package let allowsDowngrade: Bool
    /// The version that a module must run before, according to the image's signer.
    package let predecessor: FirmwareVersion?
    /// The parts of the image, in the order in which they are sent.
    package let parts: [FirmwarePart]
    /// What the module must report before the image is kept, within `healthyWithin`.
    package internal(set) var healthy: [PropertyTest]
    /// A program with its arguments, which must agree too; may be empty.
    package internal(set) var judge: [String]
    package internal(set) var healthyWithin: Duration
    /// Versions that an older module has to run first, in this order.
    package let waypoints: [UpdateJob]

    package init(
        name: String,
        digest: SHA256Digest,
        version: FirmwareVersion,
        family: Family,
        target: ModulePart = .secondary,
        type: Int?,
        variant: Int?,
        allowsDowngrade: Bool,
        predecessor: FirmwareVersion? = nil,
        parts: [FirmwarePart],
        healthy: [PropertyTest] = [],
        judge: [String] = [],
        healthyWithin: Duration = .seconds(120),
        waypoints: [UpdateJob] = []
    ) {
        self.name = name
        self.digest = digest
        self.version = version
        self.family = family
        self.target = target
        self.type = type
        self.variant = variant
        self.allowsDowngrade = allowsDowngrade
        self.predecessor = predecessor
        self.parts = parts
        self.healthy = healthy
        self.judge = judge
        self.healthyWithin = healthyWithin
        self.waypoints = waypoints
    }

    package var size: Int { parts.reduce(0) { $0 + $1.size } }

    /// The images that are installed one after the other; the last one is the goal.
    var stages: [UpdateJob] { waypoints + [self] }

    func order(for serial: Serial) -> UpdateOrder {
        UpdateOrder(serial: serial, target: target, parts: parts)
    }

    func goal(
        by driver: any UpdateDriver,
        isWaypoint: Bool,
        hasHealthCheck: Bool
    ) -> UpdateGoal {
        UpdateGoal(
            image: ImageFirmware(
                name: name,
                version: version,
                family: family,
                type: type,
                variant: variant,
                predecessor: predecessor
            ),
            policy: UpdatePolicy(allowsDowngrade: allowsDowngrade, isWaypoint: isWaypoint),
            sizes: parts.map(\.size),
            usesBootloader: driver.usesBootloader,
            hasHealthCheck: hasHealthCheck
        )
    }
}
