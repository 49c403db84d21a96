package import BlueZ
import Simulation

/// Lets programs cause faults while the depot is served, through an object on the same bus.
package enum Control {
    package static let name = "ee.yardmaster.Depot"
    package static let path = ObjectPath("/ee/yardmaster/depot") ?? .root

    static let description = Interfaces.describe(
        "ee.yardmaster.Depot1",
        [
            ("Order", "line:s", ""), ("LiftFault", "fault:s", ""),
            ("Figures", "", "figures:a{su}"), ("Calls", "", "calls:a{su}"),
            ("Faults", "", "faults:as"),
        ]
    )

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
    /// Exports the object, on a connection that outlives restarts of the service.
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
        guard let order = call.arguments.first?.asString.flatMap({ HostOrder(line: $0) }) else {
            return call.fail(.invalidArguments("an option that there is not, or a wrong value"))
        }
        if let fault = order.fault {
            set(fault)
            return call.reply()
        }
        guard let incident = order.incident else {
            return refuse(call, HostOrder.faults + HostOrder.incidents)
        }
        // A restart takes time; in real time nothing depends on the order.
        run { host in
            guard await host.cause(incident) else {
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
