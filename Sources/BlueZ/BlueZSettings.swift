/// What the operator may want otherwise about BlueZ.
package struct BlueZSettings: Sendable {
    /// The most links an adapter is given at once.
    package var linksPerAdapter = 7
    /// How long a scan may hear nothing before something is done about it.
    package var silence = Duration.seconds(30)
    /// How long one attempt to connect may take, services not included.
    package var connectPatience = Duration.seconds(25)
    /// How long the services may take once there is a link.
    package var servicesPatience = Duration.seconds(30)
    /// How long to wait for a BlueZ that is just being started again.
    package var servicePatience = Duration.seconds(5)
    /// How long an advertisement stays up without a central before it is made again.
    package var advertisingRound = Duration.seconds(3)
    /// Whether a deaf adapter may be switched off and on.
    package var mayCyclePower = true
    /// Told what an operator should know.
    package var note: @Sendable (BlueZNote) -> Void = { _ in }
    package var memory: any LinkMemory = ForgetfulMemory()

    package init() {}

    var adapterRules: AdapterMachine.Rules {
        var rules = AdapterMachine.Rules()
        rules.links = linksPerAdapter
        rules.silence = silence
        rules.mayCyclePower = mayCyclePower
        return rules
    }

    var linkRules: LinkMachine.Rules {
        var rules = LinkMachine.Rules()
        rules.connecting = connectPatience
        rules.services = servicesPatience
        return rules
    }
}
