package import DBus
import Domain

/// An adapter as BlueZ shows it.
package struct AdapterRecord: Equatable, Sendable {
    package let path: ObjectPath
    package var address = ""
    package var isPowered = false
    package var isDiscovering = false
    /// "off-blocked" when a switch forbids it; absent in old versions.
    package var powerState: String?
    package var hasGattManager = false
    package var hasAdvertisingManager = false
    /// Advertisements that all programs together have at it.
    package var advertisements = 0

    package init(path: ObjectPath) { self.path = path }

    /// What the host calls it, such as `hci0`; may be another's after it was plugged in again.
    package var name: String { String(path.name) }

    /// Whether an operator's word means this adapter: its address, or its name.
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
