package import Domain
package import Radio
import Sessions

/// What one profile makes of an advertisement.
package struct ModuleClaim: Sendable, Hashable {
    package let family: Family
    package let profile: String
    package let serial: Serial
    /// It waits for an image, or has part of one, and is nothing but that.
    package let isBootloader: Bool
    /// What it is called until its own name is read.
    package let unnamed: String

    package init(by profile: Profile, serial: Serial, isBootloader: Bool) {
        family = profile.family
        self.profile = profile.name
        unnamed = profile.unnamed
        self.serial = serial
        self.isBootloader = isBootloader
    }
}

/// How bootloaders of our own starting are known among those that advertise.
package struct BootloaderForm: Sendable {
    package let service: GATTUUID
    /// Whose it is; nil for everybody else.
    package let serial: @Sendable (Advertisement) -> Serial?
    /// Whether one that has no name of ours, and is heard at the second peer, is that of the place.
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

/// How modules of one profile are known among all that advertise, in whichever role they are.
///
/// All that look for modules use this one, so that what one of them finds the others find too.
package struct ModuleRecogniser: Sendable {
    package let family: Family
    /// Nil for modules that look for us.
    package let form: AdvertisementForm?
    /// Nil where there is none besides the application.
    package let bootloader: BootloaderForm?

    package init(family: Family, form: AdvertisementForm?, bootloader: BootloaderForm? = nil) {
        self.family = family
        self.form = form
        self.bootloader = bootloader
    }

    /// What a scan for one module should let through; with the place where its bootloader will be,
    /// that one passes without a name too.
    package func filter(for serial: Serial, bootloader place: Peer? = nil) -> ScanFilter {
        var services = bootloader.map { [$0.service] } ?? []
        var companies: [UInt16] = []
        if let form {
            if let company = form.company {
                companies = [company]
            } else if let service = form.service {
                services.append(service)
            } else {
                // A name is known by looking at it: everybody is let through to that.
                services = []
            }
        }
        var filter = ScanFilter(services: services, companies: companies) {
            sighting(of: serial, in: $0, bootloader: place) != nil
        }
        filter.sought = serial
        return filter
    }

    /// Nil when the advertisement is another's.
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
        // A bootloader may be at its application's address, and never bears its name.
        if isMeant, serial != Serial(advertisement.peer.handle) { return found(.application) }
        if let bootloader {
            let named = bootloader.serial(advertisement)
            let isInPlace =
                place.map { bootloader.isAt($0, advertisement.peer) } ?? false
                && named == nil && advertisement.services.contains(bootloader.service)
                // One that is listed by this address is its application, as far as can be seen.
                && !(isMeant && place == advertisement.peer)
            if named == serial || isInPlace { return found(.bootloader) }
        }
        return isMeant ? found(.application) : nil
    }

    /// What the advertiser may be listed by; empty for everybody else.
    package func serials(in advertisement: Advertisement) -> [Serial] {
        let known = form?.serials(in: advertisement) ?? []
        return known.isEmpty ? bootloader?.serial(advertisement).map { [$0] } ?? [] : known
    }
}

/// Which of many modules an advertiser may be.
package struct RollCall: Sendable {
    private struct Group: Sendable {
        let recogniser: ModuleRecogniser
        var members: [Serial: [Int]] = [:]
    }

    private var groups: [Group] = []

    /// The modules in the order of their numbers.
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

    /// Their numbers: two profiles may call one advertiser differently.
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
