import Base

/// An adapter as BlueZ reports it.
package struct AdapterRecord: Equatable, Sendable {
    package let path: ObjectPath
    package var address = ""
    package var isPowered = false
    package var isDiscovering = false
    /// "off-blocked" when a switch blocks it; absent in old versions.
    package var powerState: String?
    package var hasGattManager = false
    package var hasAdvertisingManager = false
    /// The number of advertisements that all programs together have registered at it.
    package var advertisements = 0

    package init(path: ObjectPath) { self.path = path }

    /// The host's name for it, such as `hci0`; after replugging, another adapter may have this
    /// name.
    package var name: String { String(path.name) }

    /// Whether an operator's name for an adapter means this one: its address, or its host name.
    package func isCalled(_ word: String) -> Bool {
        name == word || address.lowercased() == word.lowercased()
    }

    package mutating func set(_ properties: [String: DBusValue]) {
        if let value = properties["Address"]?.asString { address = value }
        if let value = properties["Powered"]?.asBool { isPowered = value }
        if let value = properties["Discovering"]?.asBool { isDiscovering = value }
        if let value = properties["PowerState"]?.asString { powerState = value }
        if let value = properties["ActiveInstances"]?.asInt { advertisements = value }
    }
}
