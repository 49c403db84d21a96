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
    /// How long an advertisement stays up without a subscription before it is made anew.
    package var advertisingRound = Duration.seconds(3)
    /// How long a bonded central that is back has for subscribing by itself.
    package var resubscribePatience = Duration.seconds(2)
    /// Whether a deaf adapter may be switched off and on.
    package var mayCyclePower = true
    /// Told what an operator should know.
    package var note: @Sendable (BlueZNote) -> Void = { _ in }
    package var memory: any LinkMemory = ForgetfulMemory()

    package init() {}
}

/// Something about the host's Bluetooth that an operator should know.
package enum BlueZNote: Hashable, Sendable, CustomStringConvertible {
    case scanRestarted(adapter: String)
    case powerCycled(adapter: String)
    case deaf(adapter: String)
    case limitLearned(adapter: String, links: Int)
    case heldByAnother(adapter: String, address: String)
    case takenOver(adapter: String, address: String)
    case forgottenAsUnresolved(address: String)
    case notificationsBySignal(address: String)
    case advertisingSlotsTaken(adapter: String)
    case adapterServesACentral(adapter: String)
    case subscriptionRemembered(adapter: String, address: String)

    package var description: String {
        switch self {
        case .scanRestarted(let adapter): "\(adapter) hears nothing: its scan was begun anew"
        case .powerCycled(let adapter): "\(adapter) hears nothing: it was switched off and on"
        case .deaf(let adapter):
            "\(adapter) still hears nothing: when modules are in reach, restart bluetooth.service"
        case .limitLearned(let adapter, let links):
            "\(adapter) carries no more than \(links) links at once"
        case .heldByAnother(let adapter, let address):
            "\(address) is connected to \(adapter) by another program"
        case .takenOver(let adapter, let address):
            "\(address) was still connected to \(adapter) from an earlier run"
        case .forgottenAsUnresolved(let address):
            "the services of \(address) were not found three times: it was forgotten"
        case .notificationsBySignal(let address):
            "\(address) notifies over the bus, because its socket is held"
        case .advertisingSlotsTaken(let adapter):
            "all advertising slots of \(adapter) are taken by others"
        case .adapterServesACentral(let adapter):
            "\(adapter) serves a central: use another adapter to connect to modules"
        case .subscriptionRemembered(let adapter, let address):
            "\(address) is bonded to \(adapter) and did not subscribe anew: its last subscription "
                + "goes on; better not to bond it"
        }
    }
}

/// Remembers which links are ours, so that a later run knows them after this one was killed.
package protocol LinkMemory: Sendable {
    /// Addresses that were connected by us and not disconnected.
    func links() -> Set<String>
    func add(_ address: String)
    func remove(_ address: String)
}

/// Remembers nothing: for programs that keep no state.
package struct ForgetfulMemory: LinkMemory {
    package init() {}
    package func links() -> Set<String> { [] }
    package func add(_ address: String) {}
    package func remove(_ address: String) {}
}
