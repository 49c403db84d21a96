import Base
import BlueZ
import Radio
import Simulation

/// The device's attributes that the service knows and shows as objects; kept after the link.
struct GATTTable {
    private var entries: [Entry] = []
    private var characteristics: [FakeCharacteristic] = []
    private var objects: [any ServedObject] = []

    private struct Entry: Equatable {
        let characteristic: Characteristic
        let flags: CharacteristicFlags
    }

    /// In the order of their handles.
    var services: [GATTUUID] {
        var list: [GATTUUID] = []
        for entry in entries where list.last != entry.characteristic.service {
            list.append(entry.characteristic.service)
        }
        return list
    }

    /// Shows the found services, before they are reported as resolved.
    ///
    /// True when they differ from the remembered ones.
    mutating func open(_ link: HostLink, of device: FakeDevice, stale: HostFault?) -> Bool {
        var found = link.characteristics.map { Entry(characteristic: $0.key, flags: $0.value) }
        found.sort {
            ($0.characteristic.service, $0.characteristic.uuid)
                < ($1.characteristic.service, $1.characteristic.uuid)
        }
        if let stale { found = Self.lacking(stale.lacking, found) }
        let isNew = found != entries || objects.isEmpty
        if isNew {
            remove()
            entries = found
            build(of: device, mtu: link.mtu)
        }
        for characteristic in characteristics { characteristic.opened(link) }
        return isNew
    }

    private static func lacking(_ uuid: GATTUUID?, _ entries: [Entry]) -> [Entry] {
        if let uuid { return entries.filter { $0.characteristic.uuid != uuid } }
        return entries.enumerated().filter { index, entry in
            let next = index + 1 < entries.count ? entries[index + 1].characteristic : nil
            return next?.service == entry.characteristic.service
        }.map(\.element)
    }

    /// Handles count up: one for a service, two for each characteristic, and one for its
    /// descriptor.
    private mutating func build(of device: FakeDevice, mtu: Int) {
        var handle = 1
        var service: (uuid: GATTUUID, path: ObjectPath)?
        for entry in entries {
            if service?.uuid != entry.characteristic.service {
                guard let path = device.path.appending("service" + Self.digits(handle)) else {
                    continue
                }
                handle += 1
                let object = FakeService(path, entry.characteristic.service, of: device)
                objects.append(object)
                object.appear()
                service = (entry.characteristic.service, path)
            }
            guard let service, let path = service.path.appending("char" + Self.digits(handle))
            else { continue }
            handle += 2
            let object = FakeCharacteristic(
                path,
                entry.characteristic,
                entry.flags,
                in: service.path,
                of: device
            )
            objects.append(object)
            characteristics.append(object)
            object.appear(mtu: mtu)
            guard object.canNotify, let place = path.appending("desc" + Self.digits(handle)) else {
                continue
            }
            handle += 1
            let descriptor = FakeDescriptor(place, of: object)
            objects.append(descriptor)
            descriptor.appear()
        }
    }

    private static func digits(_ handle: Int) -> String {
        Hex.text([UInt8(truncatingIfNeeded: handle >> 8), UInt8(truncatingIfNeeded: handle)])
    }

    /// Programs that had enabled notifications before get them again automatically.
    func resubscribe() {
        for characteristic in characteristics { characteristic.resubscribe() }
    }

    /// The link is lost: running requests on it fail.
    func close() {
        for characteristic in characteristics { characteristic.closed() }
    }

    mutating func remove() {
        if let broken = characteristics.first(where: \.isBroken) { broken.device.daemon.crash() }
        for characteristic in characteristics { characteristic.closed() }
        if let daemon = characteristics.first?.device.daemon {
            for object in Self.inTheirEnd(objects) { daemon.withdraw(object.path) }
        }
        entries = []
        characteristics = []
        objects = []
    }

    /// Sorted service by service; the contents of an object come before the object itself.
    private static func inTheirEnd(_ objects: [any ServedObject]) -> [any ServedObject] {
        func key(_ path: ObjectPath) -> String {
            let depth = path.text.utf8.count { $0 == 0x2F }
            // After all paths that begin with this one.
            return path.text + (depth < 7 ? "~" : "")
        }
        return objects.sorted { key($0.path) < key($1.path) }
    }

    func clientLeft(_ name: String) {
        for characteristic in characteristics { characteristic.clientLeft(name) }
    }
}

extension ObjectPath {
    /// The handle in the last four digits of an attribute's path.
    var handle: UInt16 { UInt16(name.suffix(4), radix: 16) ?? 0 }
}

/// A service of a device, which has no methods.
final class FakeService: ServedObject {
    let path: ObjectPath
    private let uuid: GATTUUID
    private unowned let device: FakeDevice

    init(_ path: ObjectPath, _ uuid: GATTUUID, of device: FakeDevice) {
        self.path = path
        self.uuid = uuid
        self.device = device
    }

    func appear() {
        device.daemon.serve(
            self,
            [
                (
                    Interfaces.service,
                    [
                        "UUID": .string(uuid.description), "Device": .objectPath(device.path),
                        "Primary": .boolean(true), "Includes": .objectPaths([]),
                        "Handle": .uint16(path.handle),
                    ]
                )
            ]
        )
    }

    func called(_ call: IncomingCall) { call.fail(.unknownMethod(call.member)) }
}

/// The descriptor that enables notifications; only the service itself writes it.
final class FakeDescriptor: ServedObject {
    let path: ObjectPath
    private unowned let characteristic: FakeCharacteristic

    init(_ path: ObjectPath, of characteristic: FakeCharacteristic) {
        self.path = path
        self.characteristic = characteristic
    }

    func appear() {
        characteristic.device.daemon.serve(
            self,
            [
                (
                    Interfaces.descriptor,
                    [
                        "UUID": .string(GATTUUID(short: 0x2902).description),
                        "Characteristic": .objectPath(characteristic.path),
                        "Handle": .uint16(path.handle), "Value": .bytes([]),
                    ]
                )
            ]
        )
    }

    func called(_ call: IncomingCall) {
        switch call.member {
        case "ReadValue":
            guard characteristic.device.isConnected else { return call.fail(.noLink) }
            let value = DBusValue.bytes(characteristic.configuration)
            characteristic.device.daemon.update(
                ["Value": value],
                of: Interfaces.descriptor,
                at: path
            )
            call.reply(value)
        case "WriteValue": call.fail(.notPermitted("Write not permitted"))
        default: call.fail(.unknownMethod(call.member))
        }
    }
}
