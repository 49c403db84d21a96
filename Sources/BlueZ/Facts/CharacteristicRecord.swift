package import Base

/// A characteristic as BlueZ reports it.
package struct CharacteristicRecord: Equatable, Sendable {
    package let path: ObjectPath
    package var service: ObjectPath?
    package var uuid: GATTUUID?
    package var flags: CharacteristicFlags = []
    package var mtu: Int?
    /// Whether it can be written through a socket; BlueZ shows this by the presence of a property.
    package var hasWriteSocket = false
    package var hasNotifySocket = false
    private var isWriteAcquired = false
    private var isNotifyAcquired = false
    private var isNotifying = false

    package init(path: ObjectPath) {
        self.path = path
        service = path.parent
    }

    /// Whether a program, including this one, receives its notifications or has acquired a socket
    /// for it.
    package var isInUse: Bool { isWriteAcquired || isNotifyAcquired || isNotifying }

    package mutating func set(_ properties: [String: DBusValue]) {
        if let value = properties["Service"]?.asPath { service = value }
        if let value = properties["UUID"]?.asString { uuid = GATTUUID(value) }
        if let value = properties["Flags"]?.asStrings { flags = CharacteristicFlags(names: value) }
        if let value = properties["MTU"]?.asInt { mtu = value }
        if let value = properties["Notifying"]?.asBool { isNotifying = value }
        if let value = properties["WriteAcquired"]?.asBool {
            hasWriteSocket = true
            isWriteAcquired = value
        }
        if let value = properties["NotifyAcquired"]?.asBool {
            hasNotifySocket = true
            isNotifyAcquired = value
        }
    }
}
