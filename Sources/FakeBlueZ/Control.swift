package import DBus
import Domain
import Simulation

/// How programs let things go wrong while the depot is served: an object of ours on the same bus.
package enum Control {
    package static let name = "ee.yardmaster.Depot"
    package static let path = ObjectPath("/ee/yardmaster/depot") ?? .root

    static let description = Interfaces.describe(
        "ee.yardmaster.Depot1",
        [
            ("SetFault", "fault:s options:a{sv}", ""), ("LiftFault", "fault:s", ""),
            ("Cause", "incident:s options:a{sv}", ""), ("Figures", "", "figures:a{su}"),
            ("Calls", "", "calls:a{su}"), ("Faults", "", "faults:as"),
        ]
    )

    /// The order that a call gives; nil for an option that there is not, or of a wrong type.
    static func order(_ name: String, _ options: [String: DBusValue]) -> HostOrder? {
        var order = HostOrder(name)
        for (key, value) in options {
            switch (key, value) {
            case ("module", .string(let text)): order.module = text
            case ("adapter", .string(let text)): order.adapter = text
            case ("as", .string(let text)): order.newName = text
            case ("times", .uint32(let number)) where number > 0: order.times = Int(number)
            case ("after", .uint32(let number)): order.after = .milliseconds(Int(number))
            case ("links", .uint32(let number)): order.links = Int(number)
            case ("lacks", .string(let text)):
                guard let uuid = GATTUUID(text) else { return nil }
                order.lacking = uuid
            default: return nil
            }
        }
        return order
    }

    static func counts(_ values: [String: Int]) -> DBusValue {
        .dictionary(
            key: .string,
            value: .uint32,
            values.sorted { $0.key < $1.key }.map {
                DBusEntry(key: .string($0.key), value: .uint32(UInt32(clamping: $0.value)))
            }
        )
    }
}

extension FakeBlueZ {
    /// Opens the object, on a connection that outlives restarts of the service.
    func openControl() async throws(BusError) -> Connection {
        let connection = try await Connection.open(address, on: loop)
        await connection.export(Control.description, at: Control.path) { [weak self] call in
            self?.assumeIsolated { $0.controlled(call) }
        }
        _ = try await connection.requestName(Control.name)
        return connection
    }

    private func controlled(_ call: IncomingCall) {
        switch call.member {
        case "Figures": return call.reply(Control.counts(figures.named))
        case "Calls": return call.reply(Control.counts(calls))
        case "Faults": return call.reply(.strings(faults.list.map(\.kind.rawValue)))
        case "LiftFault":
            guard let kind = call.arguments[0].asString.flatMap({ HostFault.Kind(rawValue: $0) })
            else { return refuse(call, HostOrder.faults) }
            lift(kind)
            return call.reply()
        default: break
        }
        guard let name = call.arguments.first?.asString,
            let order = Control.order(name, call.arguments.last?.asProperties ?? [:])
        else { return call.fail(.invalidArguments("no such option, or not of its type")) }
        if call.member == "SetFault" {
            guard let fault = order.fault else { return refuse(call, HostOrder.faults) }
            set(fault)
            return call.reply()
        }
        guard let incident = order.incident else { return refuse(call, HostOrder.incidents) }
        // A task of its own, because a restart takes its time; in real time nothing hangs on order.
        Task {
            guard await cause(incident) else {
                return call.fail(.failed("there is no such module or adapter"))
            }
            call.reply()
        }
    }

    private func refuse(_ call: IncomingCall, _ names: [String]) {
        call.fail(.invalidArguments("there are: " + names.joined(separator: ", ")))
    }
}

extension HostFigures {
    var named: [String: Int] {
        [
            "devices": devices, "links": links, "centrals": centrals, "scans": scans,
            "advertisements": advertisements, "applications": applications, "sockets": sockets,
        ]
    }
}
