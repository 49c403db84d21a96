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
        limits.stall = stall ?? limits.stall
        limits.bootloaderPatience = bootloaderPatience ?? limits.bootloaderPatience
        limits.continuation = continuation ?? limits.continuation
        return limits
    }
}
