/// An event of the host's Bluetooth that an operator should know about.
package enum BlueZNote: Hashable, Sendable, CustomStringConvertible {
    case scanRestarted(adapter: String)
    case powerCycled(adapter: String)
    case deaf(adapter: String)
    case limitLearned(adapter: String, links: Int)
    case limitGuessed(adapter: String, links: Int)
    case heldByAnother(adapter: String, address: String)
    case leftBehind(adapter: String, address: String)
    case forgottenAsUnresolved(address: String)
    case bondRenewed(adapter: String, address: String)
    case notificationsBySignal(address: String)
    case subscriptionUnanswered(address: String)
    case advertisingSlotsTaken(adapter: String)
    case adapterServesACentral(adapter: String)
    case subscriptionRemembered(adapter: String, address: String)

    package var description: String {
        switch self {
        case .scanRestarted(let adapter): "\(adapter) hears nothing: its scan was restarted"
        case .powerCycled(let adapter): "\(adapter) hears nothing: it was switched off and on"
        case .deaf(let adapter):
            "\(adapter) still hears nothing: when modules are in reach, restart bluetooth.service"
        case .limitLearned(let adapter, let links):
            "\(adapter) carries no more than \(links) links at once"
        case .limitGuessed(let adapter, let links):
            "several modules could not be connected beside \(links) links of \(adapter): perhaps it "
                + "carries no more; one more is tried soon"
        case .heldByAnother(let adapter, let address):
            "\(address) is connected to \(adapter) by another program"
        case .leftBehind(let adapter, let address):
            "\(address) was still connected to \(adapter) by an earlier link of this program: disconnected"
        case .forgottenAsUnresolved(let address):
            "the services of \(address) were not found three times: it was forgotten"
        case .bondRenewed(let adapter, let address):
            "\(address) has lost its bond with \(adapter): the bond is made again"
        case .notificationsBySignal(let address):
            "\(address) notifies over the bus, because its socket is held"
        case .subscriptionUnanswered(let address):
            "bluetoothd leaves a subscription to \(address) unanswered: if that does not pass, "
                + "restart bluetooth.service"
        case .advertisingSlotsTaken(let adapter):
            "all advertising slots of \(adapter) are taken by others"
        case .adapterServesACentral(let adapter):
            "\(adapter) serves a central: use another adapter to connect to modules"
        case .subscriptionRemembered(let adapter, let address):
            "\(address) is bonded to \(adapter) and did not subscribe again: its last subscription "
                + "goes on; better not to bond it"
        }
    }
}
