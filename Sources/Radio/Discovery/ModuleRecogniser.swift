package import Base

/// A module that one profile recognises in an advertisement.
package struct ModuleClaim: Sendable, Hashable {
    package let family: Family
    /// The profiles of its family that recognise it, in the order in which they are tried.
    package internal(set) var profiles: [String]
    package let serial: Serial
    /// The module waits for an image, or has received part of one, and runs nothing else.
    package let isBootloader: Bool
    /// The name to show until the module's own name is read.
    package let unnamed: String

    package init(by profile: Profile, serial: Serial, isBootloader: Bool) {
        family = profile.family
        profiles = [profile.name]
        unnamed = profile.unnamed
        self.serial = serial
        self.isBootloader = isBootloader
    }
}

/// How to recognise, among all advertisements, the bootloaders that we start.
package struct BootloaderForm: Sendable {
    package let service: GATTUUID
    /// The serial of the module whose bootloader it is; nil for other devices.
    package let serial: @Sendable (Advertisement) -> Serial?
    /// Whether a bootloader without a name from us, heard at the second peer, is the one expected
    /// at the first.
    package let isAt: @Sendable (Peer, Peer) -> Bool

    package init(
        service: GATTUUID,
        isAt: @escaping @Sendable (Peer, Peer) -> Bool = { $0 == $1 },
        serial: @escaping @Sendable (Advertisement) -> Serial?
    ) {
        self.service = service
        self.isAt = isAt
        self.serial = serial
    }
}

/// How to recognise modules of one profile, in either role, among all advertisements.
///
/// All searches use this type, so that all of them find the same modules.
package struct ModuleRecogniser: Sendable {
    package let family: Family
    /// Nil for modules that connect to us.
    package let form: AdvertisementForm?
    /// Nil where the application is the only role.
    package let bootloader: BootloaderForm?

    package init(family: Family, form: AdvertisementForm?, bootloader: BootloaderForm? = nil) {
        self.family = family
        self.form = form
        self.bootloader = bootloader
    }

    /// The filter of a scan for one module.
    ///
    /// With the place where its bootloader will be, the filter also passes that bootloader when it
    /// has no name.
    package func filter(for serial: Serial, bootloader place: Peer? = nil) -> ScanFilter {
        var services = bootloader.map { [$0.service] } ?? []
        var companies: [UInt16] = []
        if let form {
            if let company = form.company {
                companies = [company]
            } else if let service = form.service {
                services.append(service)
            } else {
                // A name can only be checked in the advertisement itself, so the filter passes all
                // devices.
                services = []
            }
        }
        var filter = ScanFilter(services: services, companies: companies) {
            sighting(of: serial, in: $0, bootloader: place) != nil
        }
        filter.sought = serial
        return filter
    }

    /// The module with this serial; nil when the advertisement is from another device.
    package func sighting(
        of serial: Serial,
        in advertisement: Advertisement,
        bootloader place: Peer? = nil
    ) -> ModuleSighting? {
        func found(_ role: ModuleRole) -> ModuleSighting {
            ModuleSighting(serial: serial, role: role, advertisement: advertisement)
        }
        let known = form?.serials(in: advertisement) ?? []
        let isMeant = known.contains(serial)
        // A bootloader may have its application's address, but it never has its application's
        // serial.
        if isMeant, serial != Serial(advertisement.peer.handle) { return found(.application) }
        if let bootloader {
            let named = bootloader.serial(advertisement)
            let isInPlace =
                place.map { bootloader.isAt($0, advertisement.peer) } ?? false
                && named == nil && advertisement.services.contains(bootloader.service)
                // A device whose serial is this address counts as the application: nothing
                // distinguishes the two.
                && !(isMeant && place == advertisement.peer)
            if named == serial || isInPlace { return found(.bootloader) }
        }
        return isMeant ? found(.application) : nil
    }

    /// All serials by which a fleet list may name the advertiser; empty for other devices.
    package func serials(in advertisement: Advertisement) -> [Serial] {
        let known = form?.serials(in: advertisement) ?? []
        return known.isEmpty ? bootloader?.serial(advertisement).map { [$0] } ?? [] : known
    }
}

/// Finds which of many modules an advertiser may be.
package struct RollCall: Sendable {
    private struct Group: Sendable {
        let recogniser: ModuleRecogniser
        var members: [Serial: [Int]] = [:]
    }

    private var groups: [Group] = []

    /// A module's number is its index in this list.
    package init(_ modules: [(recogniser: ModuleRecogniser, serial: Serial)]) {
        for (number, module) in modules.enumerated() {
            let known = groups.firstIndex {
                $0.recogniser.family == module.recogniser.family
                    && $0.recogniser.form == module.recogniser.form
                    && $0.recogniser.bootloader?.service == module.recogniser.bootloader?.service
            }
            let index = known ?? groups.count
            if known == nil { groups.append(Group(recogniser: module.recogniser)) }
            groups[index].members[module.serial, default: []].append(number)
        }
    }

    /// The numbers of the modules that it may be: two profiles may give one advertiser different
    /// serials.
    package func members(in advertisement: Advertisement) -> [Int] {
        var found: [Int] = []
        for group in groups {
            for serial in group.recogniser.serials(in: advertisement) {
                found += group.members[serial] ?? []
            }
        }
        return found
    }
}
