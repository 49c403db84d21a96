import Domain
import Modules
import Radio
import Sessions

/// A session with a module that its family's driver opens.
///
/// Requests on the link wait for their turn.
final class FamilySession: ModuleSession {
    let name: ModuleName
    let profile: Profile
    let versions: ModuleVersions?
    let readings: [PropertyReading]
    private let application: TurnedApplication

    var lacking: Set<UInt16> { [] }
    var specs: [PropertySpec] { profile.properties(variant: variant) }

    private var variant: String? { versions.map { String($0.variant) } }

    private init(
        _ name: ModuleName,
        _ profile: Profile,
        _ versions: ModuleVersions?,
        _ readings: [PropertyReading],
        _ application: TurnedApplication
    ) {
        self.name = name
        self.profile = profile
        self.versions = versions
        self.readings = readings
        self.application = application
    }

    static func opened(
        by driver: any UpdateDriver,
        _ profile: Profile,
        _ link: any Link,
        _ name: ModuleName,
        _ time: any Timekeeper
    ) async -> Result<any ModuleSession, AttemptFailure> {
        let application = TurnedApplication(profile, link, time)
        do throws(ModuleError) {
            let found = try await application.open(by: driver, name.serial)
            return .success(
                FamilySession(name, profile, found.versions, found.readings, application)
            )
        } catch {
            await link.disconnect()
            return .failure(AttemptFailure(error))
        }
    }

    func property(_ name: String) -> PropertySpec? { profile.property(name, variant: variant) }

    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        try await application.read(name)
    }

    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        try await application.write(value, to: name)
    }

    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        try await application.perform(feature, payload, nonce: nonce)
    }

    func news(
        before moment: Moment,
        asking: Bool,
        watched: [String]
    ) async throws(ModuleError) -> SessionNews {
        SessionNews(changes: try await application.changes(before: moment, watched: watched))
    }

    func currentVersions(_ known: CachedModule?) async throws(ModuleError) -> ModuleVersions? {
        try await application.versions()
    }

    func pause(until moment: Moment) async throws(ModuleError) {
        _ = try await application.changes(before: moment, watched: [])
    }

    func running(_ versions: ModuleVersions?) -> any ModuleSession {
        FamilySession(name, profile, versions, readings, application)
    }

    func changeKey(to secret: Secret) async throws(ModuleError) {
        throw .value("the key of a module of family \(profile.family.rawValue) cannot be set")
    }

    func disconnect() async { await application.link.disconnect() }
}

/// A module's application on one link, used by several tasks: each waits for its turn.
private actor TurnedApplication {
    /// How often the module is asked for news.
    private static let look = Duration.seconds(1)

    nonisolated let link: any Link
    private let profile: Profile
    private let time: any Timekeeper
    private var application: (any ModuleApplication)?
    private var holder: (any PropertyHolder)?
    private var tellsVersions = false
    private var order: UpdateOrder?
    /// The last value of each property that was read: only changes are reported.
    private var known: [String: PropertyValue] = [:]
    private var turn = AccessQueue()

    init(_ profile: Profile, _ link: any Link, _ time: any Timekeeper) {
        self.profile = profile
        self.link = link
        self.time = time
    }

    /// Opens the application and reads the properties, before any other task has access to it.
    func open(
        by driver: any UpdateDriver,
        _ serial: Serial
    ) async throws(ModuleError) -> (versions: ModuleVersions?, readings: [PropertyReading]) {
        let opened = try await driver.application(on: link, time: time)
        application = opened
        holder = try await opened.properties()
        tellsVersions = driver.tellsVersions
        order = UpdateOrder(serial: serial, parts: [])
        let versions = try await found()
        var readings: [PropertyReading] = []
        for spec in profile.properties where spec.access.isReadable {
            guard let holder else { break }
            do throws(PropertyReadError) {
                let value = try await holder.read(spec.name)
                known[spec.name] = value
                readings.append(PropertyReading(spec.name, value))
            } catch {
                // Properties that this module does not have are left out.
                guard case .module(let failure) = error else { continue }
                guard failure.failureClass != .transient else { throw failure }
            }
        }
        return (versions, readings)
    }

    private func found() async throws(ModuleError) -> ModuleVersions? {
        guard tellsVersions, let application, let order else { return nil }
        return ModuleVersions(try await application.inspect(order), order.target)
    }

    private func take() async {
        guard turn.isTaken else { return turn.take() }
        await withCheckedContinuation { turn.wait($0) }
    }

    func versions() async throws(ModuleError) -> ModuleVersions? {
        await take()
        defer { turn.end() }
        return try await found()
    }

    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        await take()
        defer { turn.end() }
        guard let holder else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        let value = try await holder.read(name)
        known[name] = value
        return value
    }

    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        await take()
        defer { turn.end() }
        guard let holder else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        let taken = try await holder.write(value, to: name)
        known[name] = taken
        return taken
    }

    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        await take()
        defer { turn.end() }
        guard let features = application?.features else {
            throw .failed(.rejected, "modules of this family have no features")
        }
        try await features.perform(feature, payload, nonce: nonce)
    }

    // MARK: Changes

    /// The values that the module notified since the last look, and the watched ones that changed.
    func changes(
        before moment: Moment,
        watched: [String]
    ) async throws(ModuleError) -> [PropertyReading] {
        let next = min(moment, time.now.advanced(by: Self.look))
        await time.sleep(until: next, for: "the next look at the module")
        await take()
        defer { turn.end() }
        guard let holder else {
            // A lost link shows only when it is used.
            _ = try await found()
            return []
        }
        do throws(PropertyReadError) {
            var changed = try await holder.changes(before: time.now)
            for name in watched {
                changed.append(PropertyReading(name, try await holder.read(name)))
            }
            return changed.filter { reading in
                defer { known[reading.name] = reading.value }
                return known[reading.name] != reading.value
            }
        } catch {
            // The module may have lost a property that it had before.
            guard case .module(let failure) = error else { return [] }
            throw failure
        }
    }
}

extension ModuleVersions {
    /// Nil when the module reports no version of the part.
    fileprivate init?(_ found: Inspection, _ part: ModulePart) {
        guard let own = found.versions[part] ?? found.firmware.version else { return nil }
        self.init(
            type: found.firmware.type,
            variant: found.firmware.variant ?? 0,
            secondary: own,
            primary: found.versions[.primary],
            bootloader: found.versions[.bootloader],
            externals: [],
            sendsToCloud: nil,
            isOngoing: found.isOngoing
        )
    }
}
