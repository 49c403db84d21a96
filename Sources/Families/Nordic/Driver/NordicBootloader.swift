import Base
import Radio

/// The bootloaders of Nordic devices.
enum NordicBootloader {
    /// The service that the profile's bootloaders advertise.
    private static func service(of profile: Profile) -> GATTUUID {
        let role = isLegacy(profile) ? "legacy-control-point" : "control-point"
        return profile.gatt.characteristic(GATTRole(rawValue: role))?.service
            ?? (isLegacy(profile) ? LegacyNumbers.service : DFUNumbers.service)
    }

    static func isLegacy(_ profile: Profile) -> Bool {
        profile.target(of: .secondary)?.protocol == .legacyDFU
    }

    /// How to recognise the bootloaders of a profile's modules: by the name that we gave them, or
    /// by their address.
    ///
    /// Which of two addresses it is depends on what the application passed to the bootloader.
    static func form(of profile: Profile) -> BootloaderForm {
        let (service, isLegacy) = (service(of: profile), isLegacy(profile))
        return BootloaderForm(
            service: service,
            // The way into a bootloader with Secure DFU decides which: the other one is a neighbour's.
            isAt: { place, heard in heard == place || isLegacy && heard == place.next }
        ) { advertisement in
            guard advertisement.services.contains(service), let name = advertisement.name else {
                return nil
            }
            return NordicBootloaderName.serial(in: name)
        }
    }
}

/// The name that we give a module's bootloader: it contains the module's serial.
enum NordicBootloaderName {
    private static let prefix = "YN"

    /// Nil for a serial that is too long; the bootloader is then found only by its address.
    static func text(of serial: Serial) -> String? {
        let text = prefix + serial.text
        return text.utf8.count <= 20 ? text : nil
    }

    static func serial(in name: String) -> Serial? {
        guard name.hasPrefix(prefix), name.utf8.count <= 20 else { return nil }
        return Serial(name.dropFirst(prefix.utf8.count))
    }
}
