/// The time limits of a profile; nil stands for the default.
package struct ProfileTimes: Sendable, Hashable {
    // When an update counts as finished.
    package var quiet: Duration?
    package var confirmGap: Duration?
    package var deadline: Duration?
    package var wrongVersionGrace: Duration?
    package var poll: Duration?
    // How long each state of an update may last.
    package var roleChange: Duration?
    package var exchange: Duration?
    package var opening: Duration?
    package var stall: Duration?
    package var bootloaderPatience: Duration?
    package var continuation: Duration?
    /// The limit for a module's answer to one request; nil means the family's default.
    package var answer: Duration?
    /// The limit for the check of a whole image; nil means the protocol's default.
    package var check: Duration?
    // For a device that connects to us.
    package var arrival: Duration?
    package var handshake: Duration?
    package var result: Duration?

    package init() {}

    /// The limits with these times applied; nil when settling could never succeed.
    package func applied(to limits: UpdateLimits) -> UpdateLimits? {
        var limits = limits
        let settle = limits.settle
        let rules = SettleRules(
            quiet: quiet ?? settle.quiet,
            confirmGap: confirmGap ?? settle.confirmGap,
            total: deadline ?? settle.total,
            wrongVersionGrace: wrongVersionGrace ?? settle.wrongVersionGrace,
            poll: poll ?? settle.poll,
            lastLook: settle.lastLook
        )
        guard let rules, rules.quiet + rules.confirmGap < rules.total else { return nil }
        limits.settle = rules
        limits.roleChange = roleChange ?? limits.roleChange
        limits.exchange = exchange ?? limits.exchange
        limits.opening = opening ?? limits.opening
        limits.bootloaderOpening = opening
        // The module checks the image after the last byte, and no byte is acknowledged meanwhile.
        limits.stall = max(stall ?? limits.stall, check ?? .zero)
        limits.bootloaderPatience = bootloaderPatience ?? limits.bootloaderPatience
        limits.continuation = continuation ?? limits.continuation
        return limits
    }

    /// The times that an upload's state machine needs.
    package var upload: UploadTimes { UploadTimes(answer: answer, erase: opening, check: check) }
}
