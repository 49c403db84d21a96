/// The settings of BlueZ that an operator can change.
package struct BlueZSettings: Sendable {
    /// The most simultaneous links for an adapter.
    package var linksPerAdapter = 7
    /// How long a scan may hear nothing before the program acts on it.
    package var silence = Duration.seconds(30)
    /// How long one attempt to connect may take, services not included.
    package var connectPatience = Duration.seconds(25)
    /// How long finding the services may take once there is a link.
    package var servicesPatience = Duration.seconds(30)
    /// How long a module may take to answer, or to end the link, after a bond was refused to it.
    package var unbondedPatience = Duration.seconds(5)
    /// How long to wait for a BlueZ daemon that is restarting.
    package var servicePatience = Duration.seconds(5)
    /// How long an advertisement stays registered without a central before it is registered again.
    package var advertisingRound = Duration.seconds(3)
    /// Whether a deaf adapter may be switched off and on.
    package var mayCyclePower = true
    /// Whether a module is asked for a first subscription in the way that brings its refusal at once.
    ///
    /// A central that subscribes so ends the subscription once, and to our own peripheral that is its end.
    package var provesSubscriptions = true
    /// Called with each event that an operator should know about.
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
        rules.unbonded = unbondedPatience
        return rules
    }
}
