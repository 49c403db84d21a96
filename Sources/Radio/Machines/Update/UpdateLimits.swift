/// How long each state of an update may last.
package struct UpdateLimits: Equatable, Sendable {
    /// For finding the module.
    package var seek: Duration = .seconds(30)
    /// Consecutive searches without a sighting before the module counts as unreachable.
    package var searches = 4
    /// For finding it in its other role.
    package var roleChange: Duration = .seconds(60)
    package var connect: Duration = .seconds(30)
    /// For one exchange of requests: inspecting, preparing, probing, activating, confirming.
    package var exchange: Duration = .seconds(60)
    /// A transfer without a further byte for this time is interrupted.
    package var stall: Duration = .seconds(60)
    /// The same limit before the first byte: the module may have to erase the whole slot first.
    package var opening: Duration = .seconds(150)
    /// The same in a bootloader; nil where its profile names no time, and `stall` is enough.
    package var bootloaderOpening: Duration?
    /// The lowest rate, in bytes per second, at which a transfer is worth its time.
    package var slowest = 50
    /// Consecutive interrupted transfers without a further byte in the module.
    package var fruitless = 3
    /// How often a whole image may be lost before the module counts as defective.
    package var startsOver = 2
    /// A bootloader that is left alone returns to its application within this time.
    package var bootloaderPatience: Duration = .seconds(150)
    /// How long a bootloader may still be heard after it has received everything.
    package var continuation: Duration = .seconds(15)
    /// For the module to show that it is healthy.
    package var health: Duration = .seconds(120)
    package var settle: SettleRules

    package init(settle: SettleRules) { self.settle = settle }
}
