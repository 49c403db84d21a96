package import Base
package import Radio
import Show
package import Store

/// One module that an inventory reads, with what opens it.
package struct InventoryTarget: Sendable {
    let serial: Serial
    let family: Family
    let profile: Profile
    let vehicle: VehicleID?
    /// Nil for a module that cannot be opened.
    let driver: (any UpdateDriver)?
    let bond: BondPolicy
    /// Why it cannot be opened.
    let refusal: String?

    package init(
        serial: Serial,
        profile: Profile,
        vehicle: VehicleID?,
        driver: (any UpdateDriver)?,
        bond: BondPolicy = .unbonded,
        refusal: String? = nil
    ) {
        self.serial = serial
        family = profile.family
        self.profile = profile
        self.vehicle = vehicle
        self.driver = driver
        self.bond = bond
        self.refusal = refusal
    }

    fileprivate var recogniser: ModuleRecogniser {
        driver?.recogniser ?? ModuleRecogniser(family: family, form: profile.advertisement)
    }

    /// Whether it advertises; GO devices do not: they connect to us, and only to carry something
    /// out.
    var isHeard: Bool { profile.advertisement != nil }
}

/// Listens for modules, opens each one and reads its identity, versions and properties; changes
/// nothing.
package struct InventorySurvey: Sendable {
    /// How old a sighting may be for connecting without a new search.
    private static let freshness = Duration.seconds(20)
    private static let attempts = 2
    private static let readLimit = Duration.seconds(10)

    private let central: any Central
    private let time: any Timekeeper
    private let length: Duration
    private let objection: @Sendable (Serial) async -> String?

    /// `length` is how long it listens for modules that were not heard yet; `objection` returns why
    /// a module must not be connected to now.
    package init(
        central: any Central,
        time: any Timekeeper,
        for length: Duration,
        unless objection: @escaping @Sendable (Serial) async -> String? = { _ in nil }
    ) {
        self.central = central
        self.time = time
        self.length = length
        self.objection = objection
    }

    private struct Sound {
        var advertisement: Advertisement
        var isBootloader: Bool
        var moment: Moment
        var wallTime: WallTime
    }

    /// Returns a record for each module in the order of `targets`, except for those that connect to
    /// us.
    package func look(
        at targets: [InventoryTarget],
        unless isStopped: @escaping @Sendable () -> Bool
    ) async throws(RadioError) -> [InventoryRecord] {
        let wanted = targets.filter(\.isHeard)
        let sounds = try await listen(to: wanted, unless: isStopped)
        var records: [InventoryRecord] = []
        for (number, target) in wanted.enumerated() {
            records.append(await record(of: target, sounds[number], unless: isStopped))
        }
        return records
    }

    private func listen(
        to targets: [InventoryTarget],
        unless isStopped: @Sendable () -> Bool
    ) async throws(RadioError) -> [Int: Sound] {
        let roll = RollCall(targets.map { ($0.recogniser, $0.serial) })
        let end = time.now.advanced(by: length)
        let time = time
        let filter = ScanFilter { !roll.members(in: $0).isEmpty }
        return try await central.withScan(filter) { scan throws(RadioError) in
            var sounds: [Int: Sound] = [:]
            while time.now < end, sounds.count < targets.count, !isStopped() {
                let heard: Advertisement
                do throws(RadioError) {
                    heard = try await scan.next(
                        before: min(end, time.now.advanced(by: .seconds(1)))
                    )
                } catch {
                    guard error == .timedOut else { throw error }
                    continue
                }
                for number in roll.members(in: heard) {
                    let target = targets[number]
                    let role = target.recogniser.sighting(of: target.serial, in: heard)?.role
                    sounds[number] = Sound(
                        advertisement: heard,
                        isBootloader: role == .bootloader,
                        moment: time.now,
                        wallTime: time.wallTime
                    )
                }
            }
            return sounds
        }
    }

    private func record(
        of target: InventoryTarget,
        _ sound: Sound?,
        unless isStopped: @escaping @Sendable () -> Bool
    ) async -> InventoryRecord {
        var record = InventoryRecord(
            serial: target.serial,
            family: target.family,
            profile: target.profile.name,
            looked: time.wallTime
        )
        record.vehicle = target.vehicle
        guard let sound else {
            record.problem = isStopped() ? Self.ended : InventoryRecord.notHeard
            return record
        }
        record.name = sound.advertisement.name.map { String($0.visible.prefix(64)) }
        record.signal = sound.advertisement.signal
        record.adapter = central.adapter
        record.heard = sound.wallTime
        record.isInBootloader = sound.isBootloader
        if let objection = await objection(target.serial) {
            record.problem = InventoryRecord.leftAlone + objection
        } else if sound.isBootloader {
            record.problem = "it is in its bootloader: an update of it is not over"
        } else if let driver = target.driver {
            await read(target, driver, sound, into: &record, unless: isStopped)
        } else {
            record.problem = target.refusal ?? "nothing opens it"
        }
        return record
    }

    private static let ended = "not looked at: the inventory was ended"

    /// Reads a module; when the link is lost, searches again and tries once more.
    private func read(
        _ target: InventoryTarget,
        _ driver: any UpdateDriver,
        _ sound: Sound,
        into record: inout InventoryRecord,
        unless isStopped: @escaping @Sendable () -> Bool
    ) async {
        let vehicle = VehicleLink(to: target.serial, central, time, bond: target.bond)
        var peer: Peer? = sound.advertisement.peer
        if sound.moment.duration(to: time.now) > Self.freshness { peer = nil }
        for _ in 0..<Self.attempts {
            if isStopped() {
                record.problem = Self.ended
                return
            }
            do throws(ModuleError) {
                if let found = peer {
                    peer = nil
                    do throws(RadioError) {
                        try await vehicle.connect(to: found)
                    } catch { throw .radio(error) }
                    try await vehicle.openApplication(by: driver)
                }
                let application = try await vehicle.present(
                    driver,
                    before: time.now.advanced(by: length),
                    unless: isStopped
                )
                record.facts = try await facts(of: target, driver, application, vehicle)
                await vehicle.leave()
                record.read = time.wallTime
                record.bond = target.bond.pairing.words
                record.problem = nil
                return
            } catch {
                await vehicle.leave()
                record.problem = error.description
                guard error.failureClass == .transient else { return }
            }
        }
    }

    private func facts(
        of target: InventoryTarget,
        _ driver: any UpdateDriver,
        _ application: any ModuleApplication,
        _ vehicle: VehicleLink
    ) async throws(ModuleError) -> [InventoryRecord.Fact] {
        var facts: [InventoryRecord.Fact] = []
        if driver.tellsVersions {
            let order = UpdateOrder(serial: target.serial, parts: [])
            let found = try await application.inspect(order)
            var versions = found.versions
            versions[order.target] = found.firmware.version ?? versions[order.target]
            for part in ModulePart.allCases {
                guard let version = versions[part] else { continue }
                facts.append(.init(.version, part.rawValue, version.description))
            }
            if let type = found.firmware.type { facts.append(.init(.identity, "type", "\(type)")) }
            if let variant = found.firmware.variant {
                facts.append(.init(.identity, "variant", "\(variant)"))
            }
        }
        for (characteristic, name) in Self.information {
            guard let found = try await bytes(of: characteristic, on: vehicle) else { continue }
            let text = String(decoding: found.prefix { $0 != 0 }, as: UTF8.self).visible
            if !text.isEmpty { facts.append(.init(.identity, name, String(text.prefix(64)))) }
        }
        let holder = try await application.properties()
        for spec in target.profile.properties where spec.access.isReadable {
            guard let holder else { break }
            do throws(PropertyReadError) {
                let value = try await holder.read(spec.name)
                facts.append(.init(.property, spec.name, value.text, unit: spec.unit))
            } catch {
                // Properties that this module does not have are left out.
                guard case .module(let failure) = error else { continue }
                guard failure.failureClass != .transient else { throw failure }
            }
        }
        if !facts.contains(where: { Inventory.batteryNames.contains($0.name) }),
            let level = try await bytes(of: Self.batteryLevel, on: vehicle)?.first
        {
            facts.append(.init(.property, "battery_level", "\(level)", unit: "percent"))
        }
        return facts
    }

    private static let information: [(Characteristic, String)] = [
        (DeviceInformation.manufacturer, "manufacturer"), (DeviceInformation.model, "model"),
        (DeviceInformation.hardwareRevision, "hardware"),
    ]

    /// The level of the Battery service (0x180F).
    private static let batteryLevel = Characteristic(
        GATTUUID(short: 0x2A19),
        of: GATTUUID(short: 0x180F)
    )

    /// Nil when the module does not have the characteristic, or refuses to read it.
    private func bytes(
        of characteristic: Characteristic,
        on vehicle: VehicleLink
    ) async throws(ModuleError) -> [UInt8]? {
        guard let link = vehicle.radio, link.flags(of: characteristic) != nil else { return nil }
        do throws(RadioError) {
            return try await link.read(
                characteristic,
                before: time.now.advanced(by: Self.readLimit)
            )
        } catch {
            if case .att = error { return nil }
            throw .radio(error)
        }
    }
}

extension Pairing {
    /// The text in an inventory.
    fileprivate var words: String {
        switch self {
        case .none: "none"
        case .justWorks: "just works"
        case .passkey: "passkey"
        }
    }
}
