import BlueZ
import DBus

/// An adapter of the host, as far as a rehearsal needs to know it.
struct HostAdapterRecord: Equatable {
    let path: ObjectPath
    var address = ""
    var isPowered = false
    /// Whether it can serve characteristics and advertise.
    var isPeripheral = false

    var name: String { String(path.name) }

    /// Whether an operator's word means this adapter: its address, or its name.
    func isCalled(_ word: String) -> Bool {
        name == word || address.lowercased() == word.lowercased()
    }

    /// All that the service's tree of objects lists, in the order of their paths.
    static func all(in tree: DBusValue) -> [HostAdapterRecord] {
        guard case .dictionary(_, _, let objects) = tree else { return [] }
        return objects.compactMap(record).sorted { $0.path < $1.path }
    }

    private static func record(_ object: DBusEntry) -> HostAdapterRecord? {
        guard let path = object.key.asPath,
            case .dictionary(_, _, let entries) = object.value
        else { return nil }
        var record = HostAdapterRecord(path: path)
        var isAdapter = false
        var managers = 0
        for entry in entries {
            switch entry.key.asString {
            case BlueZName.adapter:
                let values = entry.value.asProperties ?? [:]
                isAdapter = true
                record.address = values["Address"]?.asString ?? ""
                record.isPowered = values["Powered"]?.asBool ?? false
            case BlueZName.gattManager, BlueZName.advertisingManager: managers += 1
            default: continue
            }
        }
        record.isPeripheral = managers == 2
        return isAdapter ? record : nil
    }
}
