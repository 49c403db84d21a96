/// The goal of one update, as far as its session needs to know it.
package struct UpdateGoal: Equatable, Sendable {
    package let image: ImageFirmware
    package let policy: UpdatePolicy
    /// Bytes of each part, in the order in which they are sent.
    package let sizes: [Int]
    /// Whether the bootloader receives the image, and not the application.
    package let usesBootloader: Bool
    /// Whether the module must meet health conditions before it keeps the image.
    package let hasHealthCheck: Bool

    package init(
        image: ImageFirmware,
        policy: UpdatePolicy = UpdatePolicy(),
        sizes: [Int],
        usesBootloader: Bool,
        hasHealthCheck: Bool = false
    ) {
        self.image = image
        self.policy = policy
        self.sizes = sizes
        self.usesBootloader = usesBootloader
        self.hasHealthCheck = hasHealthCheck
    }

    package var total: Int { sizes.reduce(0, +) }

    func size(before part: Int) -> Int { sizes.prefix(part).reduce(0, +) }
}
