package import Radio

/// Why a rehearsal cannot begin or continue.
package enum RehearsalError: Error, Hashable, Sendable {
    /// The host's Bluetooth cannot be used.
    case radio(RadioError)
    case noAdapter(String, others: [String])
    case adapterOff(String)
    /// The adapter cannot advertise or serve.
    case noPeripheralRole(String)
    /// There are more simulated modules than adapters.
    case tooFewAdapters(modules: Int, adapters: Int)
    case noModules
    case depot(String)
}

extension RehearsalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .radio(let error): error.description
        case .noAdapter(let name, let others):
            "there is no adapter \(name)"
                + (others.isEmpty
                    ? "; this host has none" : "; this host has \(others.joined(separator: ", "))")
        case .adapterOff(let name): "the adapter \(name) is switched off"
        case .noPeripheralRole(let name): "the adapter \(name) cannot serve or advertise"
        case .tooFewAdapters(let modules, let adapters):
            "the depot has \(modules) modules, and each needs an adapter of its own; "
                + "there \(adapters == 1 ? "is" : "are") \(adapters)"
        case .noModules: "the depot has no modules"
        case .depot(let reason): reason
        }
    }
}

/// A message for a person who watches a rehearsal.
package enum RehearsalNote: Hashable, Sendable, CustomStringConvertible {
    /// A module advertises on an adapter under this name.
    case advertises(module: String, adapter: String, name: String)
    case silent(module: String, adapter: String)
    case connected(module: String, adapter: String, central: String)
    case disconnected(module: String, adapter: String)
    case refused(adapter: String, what: String)
    /// The state of a module without a link, by its own record.
    case record(module: String, adapter: String, String)
    case serviceGone(adapter: String)
    case serviceBack(adapter: String)
    /// A vehicle found a host that advertises its service, and connected to it.
    case visits(vehicle: String, adapter: String, host: String)
    case leaves(vehicle: String, adapter: String)

    package var description: String {
        switch self {
        case .advertises(let module, let adapter, let name):
            "\(adapter): \(module) advertises as \(name)"
        case .silent(let module, let adapter): "\(adapter): \(module) is silent"
        case .connected(let module, let adapter, let central):
            "\(adapter): \(central) is connected to \(module)"
        case .disconnected(let module, let adapter): "\(adapter): \(module) has no link"
        case .refused(let adapter, let what): "\(adapter): \(what)"
        case .record(let module, let adapter, let text): "\(adapter): \(module) \(text)"
        case .serviceGone(let adapter): "\(adapter): the Bluetooth service or the adapter is gone"
        case .serviceBack(let adapter): "\(adapter): can be used"
        case .visits(let vehicle, let adapter, let host):
            "\(adapter): \(vehicle) has connected to \(host)"
        case .leaves(let vehicle, let adapter): "\(adapter): \(vehicle) has no link"
        }
    }
}
