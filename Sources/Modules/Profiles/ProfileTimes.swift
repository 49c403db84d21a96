package import Sessions

/// How patient one must be with modules of a profile; what is nil is as with any other module.
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
    /// For a module's answer to one request; nil where the family's usual one is meant.
    package var answer: Duration?
    /// For the check of a whole image; nil where the protocol's usual time is meant.
    package var check: Duration?
    // Of a device that comes to us.
    package var arrival: Duration?
    package var handshake: Duration?
    package var result: Duration?

    package init() {}

    /// The limits with these times in them; nil when settling could never end well.
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
        // Behind the last byte the check comes, and no further one.
        limits.stall = max(stall ?? limits.stall, check ?? .zero)
        limits.bootloaderPatience = bootloaderPatience ?? limits.bootloaderPatience
        limits.continuation = continuation ?? limits.continuation
        return limits
    }

    /// What the machine of an upload has to know.
    package var upload: UploadTimes { UploadTimes(answer: answer, erase: opening, check: check) }
}
