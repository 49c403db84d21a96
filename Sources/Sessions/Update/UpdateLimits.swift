/// How long each state of an update may last.
package struct UpdateLimits: Equatable, Sendable {
    /// For hearing the module.
    package var seek: Duration = .seconds(30)
    /// Searches in a row that hear nothing before the module counts as unreachable.
    package var searches = 4
    /// For hearing it in its other role.
    package var roleChange: Duration = .seconds(60)
    package var connect: Duration = .seconds(30)
    /// For one exchange of questions: inspecting, preparing, probing, activating, confirming.
    package var exchange: Duration = .seconds(60)
    /// A transfer that brings no byte more for so long is broken off.
    package var stall: Duration = .seconds(60)
    /// The same before its first byte: the module may have to erase the whole slot for it.
    package var opening: Duration = .seconds(150)
    /// The least rate, in bytes a second, at which a transfer is worth its time.
    package var slowest = 50
    /// Broken transfers in a row without a byte more in the module.
    package var fruitless = 3
    /// How often a whole image may go back to nothing before the module counts as defect.
    package var startsOver = 2
    /// A bootloader nobody talks to goes back to its application within this time.
    package var bootloaderPatience: Duration = .seconds(150)
    /// How long a bootloader may be heard after it has got everything.
    package var continuation: Duration = .seconds(15)
    /// For the module to show that it is well.
    package var health: Duration = .seconds(120)
    package var settle: SettleRules

    package init(settle: SettleRules) { self.settle = settle }
}
