package import Base

/// Looks for modules of every family that has a profile.
package final class Discovery: Sendable {
    /// A module that was not heard for this long counts as lost.
    package static let patience = Duration.seconds(5)
    /// The most modules that are kept.
    ///
    /// A depot has fewer; a sender of invented serials must not fill our memory.
    package static let most = 4_096

    /// The modules that are heard now, sorted by serial.
    package let modules = Latest<[DiscoveredModule]>([])
    package let isScanning = Latest(false)
    /// Why the last scan ended early; nil when it completed.
    package let problem = Latest<DiscoveryProblem?>(nil)

    private let central: any Central
    private let time: any Timekeeper
    private let library: ProfileLibrary
    private let notes: @Sendable (LogMessage) -> Void

    package init(
        central: any Central,
        time: any Timekeeper,
        library: ProfileLibrary,
        notes: @escaping @Sendable (LogMessage) -> Void = { _ in }
    ) {
        self.central = central
        self.time = time
        self.library = library
        self.notes = notes
    }

    /// Scans for `length`, or until a module is heard that `isWanted`; returns that module.
    ///
    /// The list is empty after the scan. Cancelling the task ends the scan.
    @discardableResult
    package func scan(
        for length: ScanLength = .medium,
        until isWanted: @escaping @Sendable (DiscoveredModule) -> Bool = { _ in false }
    ) async throws(DiscoveryProblem) -> DiscoveredModule? {
        let deadline = time.now.advanced(by: length.duration)
        isScanning.change(to: true)
        problem.change(to: nil)
        notes("scanning for \(length.duration)")
        defer {
            isScanning.change(to: false)
            modules.change(to: [])
        }
        do throws(RadioError) {
            return try await central.withScan(
                ScanFilter { [library] advertisement in
                    !library.claims(on: advertisement).isEmpty
                }
            ) { scan throws(RadioError) in
                try await self.listen(to: scan, before: deadline, until: isWanted)
            }
        } catch {
            let found = DiscoveryProblem(error)
            problem.change(to: found)
            throw found
        }
    }

    private func listen(
        to scan: any Scan,
        before deadline: Moment,
        until isWanted: (DiscoveredModule) -> Bool
    ) async throws(RadioError) -> DiscoveredModule? {
        var heard = Neighbourhood()
        while time.now < deadline {
            let next = min(deadline, heard.nextLoss ?? deadline)
            do throws(RadioError) {
                let advertisement = try await scan.next(before: next)
                // Profiles of several families may claim it: all of them are heard.
                var wanted: DiscoveredModule?
                for claim in library.claims(on: advertisement) {
                    guard let sighting = heard.hear(claim, advertisement, at: time.now) else {
                        continue
                    }
                    if sighting.isNew { notes("heard \(sighting.module.serial)") }
                    modules.set(heard.list)
                    if isWanted(sighting.module) { wanted = wanted ?? sighting.module }
                }
                if let wanted { return wanted }
            } catch {
                guard error == .timedOut else { throw error }
            }
            let lost = heard.forget(before: time.now)
            if !lost.isEmpty {
                for serial in lost { notes("lost \(serial)") }
                modules.set(heard.list)
            }
        }
        return nil
    }
}

/// The modules that were heard lately.
package struct Neighbourhood {
    private struct Key: Hashable {
        let serial: Serial
        let family: Family
    }

    private var modules: [Key: DiscoveredModule] = [:]

    package init() {}

    /// Sorted by serial, so that the order of a list is stable.
    var list: [DiscoveredModule] {
        modules.values.sorted {
            ($0.serial, $0.family.rawValue) < ($1.serial, $1.family.rawValue)
        }
    }

    /// When the next module counts as lost, unless it is heard again.
    var nextLoss: Moment? {
        modules.values.map(\.lastSeen).min().map { $0.advanced(by: Discovery.patience) }
    }

    /// The module that was heard, and whether it is new; nil when there is no room for more.
    package mutating func hear(
        _ found: ModuleClaim,
        _ advertisement: Advertisement,
        at now: Moment
    ) -> (module: DiscoveredModule, isNew: Bool)? {
        let key = Key(serial: found.serial, family: found.family)
        let known = modules[key]
        guard known != nil || modules.count < Discovery.most else { return nil }
        let module = DiscoveredModule(
            serial: found.serial,
            family: found.family,
            profiles: found.profiles,
            name: Self.name(advertisement, found) ?? known?.name
                ?? found.unnamed,
            signal: advertisement.signal,
            lastSeen: now,
            peer: advertisement.peer,
            isInBootloader: found.isBootloader
        )
        modules[key] = module
        return (module, known == nil)
    }

    /// A bootloader's name is the one that we gave it, so the module's own name is kept.
    private static func name(
        _ advertisement: Advertisement,
        _ found: ModuleClaim
    ) -> String? {
        found.isBootloader ? nil : Advertisement.shown(advertisement.name)
    }

    /// Removes the modules that have not been heard for too long, and returns their serials.
    mutating func forget(before now: Moment) -> [Serial] {
        let lost = modules.filter {
            $0.value.lastSeen.advanced(by: Discovery.patience) <= now
        }.keys
        for key in lost { modules[key] = nil }
        return lost.map(\.serial).sorted()
    }
}
