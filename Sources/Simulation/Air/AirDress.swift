package import Domain
package import Modules
import Radio

/// What makes a simulated module one of another profile than its family's generic one: it
/// advertises otherwise, and has its characteristics elsewhere.
package final class AirDress: Sendable {
    package let profile: Profile
    package let serial: Serial
    /// Where a characteristic of the family's modules is on this one.
    private let shown: [Characteristic: Characteristic]
    private let meant: [Characteristic: Characteristic]
    /// What only its bootloader advertises.
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

    /// Nil for one that only the family's other modules have.
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

    /// What it sends at present, in its dress.
    package var aired: Broadcast? {
        guard let dress else { return broadcast }
        return broadcast.map(dress.advertised)
    }

    /// What a central finds on it now, in its dress.
    package var table: [Characteristic: CharacteristicFlags] {
        guard let dress else { return characteristics }
        return Dictionary(
            characteristics.map { (dress.shown($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// What is meant by a characteristic that a central has found.
    package func meant(_ characteristic: Characteristic) -> Characteristic {
        dress.map { $0.meant(characteristic) ?? characteristic } ?? characteristic
    }

    /// Where a central finds what the device calls so.
    package func shown(_ characteristic: Characteristic) -> Characteristic {
        dress?.shown(characteristic) ?? characteristic
    }
}
