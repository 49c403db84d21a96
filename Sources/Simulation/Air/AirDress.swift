package import Base
package import Radio

/// The differences of a simulated module from its family's generic profile: other advertisements,
/// and other UUIDs of characteristics.
package final class AirDress: Sendable {
    package let profile: Profile
    package let serial: Serial
    /// The characteristics of this module, by those of the family's modules.
    private let shown: [Characteristic: Characteristic]
    private let meant: [Characteristic: Characteristic]
    /// The service that only its bootloader advertises.
    private let bootloader: GATTUUID?

    package init(
        _ profile: Profile,
        serial: Serial,
        moved: [Characteristic: Characteristic],
        bootloader: GATTUUID? = nil
    ) {
        self.profile = profile
        self.serial = serial
        self.bootloader = bootloader
        shown = moved
        meant = Dictionary(
            moved.map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func shown(_ characteristic: Characteristic) -> Characteristic {
        shown[characteristic] ?? characteristic
    }

    /// The family's characteristic for one of this module; nil when only the family's other modules
    /// have it.
    func meant(_ characteristic: Characteristic) -> Characteristic? {
        if let own = meant[characteristic] { return own }
        return shown[characteristic] == nil ? characteristic : nil
    }

    func advertised(_ broadcast: Broadcast) -> Broadcast {
        var other = broadcast
        if let bootloader, broadcast.services.contains(bootloader) {
            let moved = shown.first { $0.key.service == bootloader }?.value.service
            other.services = [moved ?? bootloader]
            return other
        }
        guard let form = profile.advertisement else { return broadcast }
        let heard = form.advertised(serial, name: broadcast.name, address: broadcast.address)
        other.address = heard.peer.handle
        other.name = heard.name
        other.services = heard.services
        other.manufacturerData = heard.manufacturerData
        return other
    }
}

extension AirDevice {
    package var dress: AirDress? { nil }

    /// The advertisement that it sends now, with the values of its profile.
    package var aired: Broadcast? {
        guard let dress else { return broadcast }
        return broadcast.map(dress.advertised)
    }

    /// The characteristics that a central finds on it now, with the UUIDs of its profile.
    package var table: [Characteristic: CharacteristicFlags] {
        guard let dress else { return characteristics }
        return Dictionary(
            characteristics.map { (dress.shown($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The family's characteristic for one that a central has found.
    package func meant(_ characteristic: Characteristic) -> Characteristic {
        dress.map { $0.meant(characteristic) ?? characteristic } ?? characteristic
    }

    /// The characteristic that a central finds for one of the family.
    package func shown(_ characteristic: Characteristic) -> Characteristic {
        dress?.shown(characteristic) ?? characteristic
    }
}
