import Domain
import Modules
import Radio

/// One link to one module of family `comodule`.
final class ComoduleSession: ModuleSession {
    let name: ModuleName
    let versions: ModuleVersions?
    let readings: [PropertyReading]
    private let client: ComoduleClient
    private let properties: ComoduleProperties

    init(
        name: ModuleName,
        client: ComoduleClient,
        properties: ComoduleProperties,
        versions: ModuleVersions?,
        readings: [PropertyReading]
    ) {
        self.name = name
        self.client = client
        self.properties = properties
        self.versions = versions
        self.readings = readings
    }

    var profile: Profile { properties.profile }
    var specs: [PropertySpec] { profile.properties(variant: properties.variant) }

    var lacking: Set<UInt16> {
        let given = readings.compactMap { property($0.name)?.source?.register }
        return Set(listing.missing.compactMap { $0.source?.register }).subtracting(given)
    }

    func property(_ name: String) -> PropertySpec? { properties.property(name) }

    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        try await properties.read(name)
    }

    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        try await properties.write(value, to: name)
    }

    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        throw .failed(.rejected, "modules of family comodule have no features")
    }

    func news(
        before moment: Moment,
        asking: Bool,
        watched: [String]
    ) async throws(ModuleError) -> SessionNews {
        var news = SessionNews()
        var record = try await client.notification(before: moment)
        if asking, record?.id != VersionsRecord.id {
            if let record { news.changes = await properties.take(record) }
            record = try await client.record(VersionsRecord.id)
        }
        guard let record else { return news }
        if let versions = VersionsRecord(record) {
            news.isHandingOn = versions.handoff != 0
        } else {
            news.changes += await properties.take(record)
        }
        return news
    }

    func currentVersions(_ known: CachedModule?) async throws(ModuleError) -> ModuleVersions? {
        try await client.versions(by: profile, known: known)
    }

    func pause(until moment: Moment) async throws(ModuleError) {
        _ = try await client.notification(before: moment)
    }

    func running(_ versions: ModuleVersions?) -> any ModuleSession {
        ComoduleSession(
            name: name,
            client: client,
            properties: properties,
            versions: versions,
            readings: readings
        )
    }

    func changeKey(to secret: Secret) async throws(ModuleError) {
        let key: ComoduleKey
        do throws(ComoduleKeyError) { key = try ComoduleKey(secret) } catch {
            throw .value(error.description)
        }
        try await client.changeKey(to: key)
    }

    func disconnect() async { await client.disconnect() }
}

/// Turns a link into a session: authenticates and reads.
struct ComoduleHandshake {
    let time: any Timekeeper
    let profile: Profile
    let key: ComoduleKey
    let name: ModuleName

    static func sessions(
        _ profile: Profile,
        _ secret: Secret?
    ) throws(ConnectError) -> SessionOpener {
        guard let secret else { throw .secretMissing(profile.family) }
        let key: ComoduleKey
        do throws(ComoduleKeyError) { key = try ComoduleKey(secret) } catch {
            throw .invalidPrivateKey(error)
        }
        return SessionOpener { link, name, cached, time in
            let handshake = Self(time: time, profile: profile, key: key, name: name)
            do throws(AttemptFailure) {
                return .success(try await handshake.session(on: link, cached))
            } catch { return .failure(error) }
        }
    }

    private func session(
        on link: any Link,
        _ cached: CachedModule?
    ) async throws(AttemptFailure) -> any ModuleSession {
        guard let layout = ComoduleLayout(profile.gatt) else {
            await link.disconnect()
            throw .final(
                .unexpected("modules of family \(profile.family.rawValue) have no session")
            )
        }
        do throws(AttemptFailure) {
            try Self.check(link, layout)
            let client = ComoduleClient(
                link: ProfileShape.comodule.link(link, by: profile),
                time: time,
                answerLimit: profile.answerLimit
            )
            return try await greet(client, cached)
        } catch {
            await link.disconnect()
            throw error
        }
    }

    /// Checks the characteristics.
    ///
    /// When a whole service is missing, the error names the service.
    private static func check(
        _ link: any Link,
        _ layout: ComoduleLayout
    ) throws(AttemptFailure) {
        for characteristic in layout.all where link.flags(of: characteristic) == nil {
            let isWhole = layout.all.allSatisfy {
                $0.service != characteristic.service || link.flags(of: $0) == nil
            }
            throw .final(
                isWhole
                    ? .missingService(characteristic.service)
                    : .missingCharacteristic(characteristic.uuid)
            )
        }
    }

    private func greet(
        _ client: ComoduleClient,
        _ cached: CachedModule?
    ) async throws(AttemptFailure) -> any ModuleSession {
        do throws(ModuleError) {
            try await client.authenticate(key)
            let versions = try await client.versions(by: profile, known: cached)
            let properties = ComoduleProperties(
                client: client,
                profile: profile,
                variant: versions.variant,
                time: time
            )
            // Switched on before the first reading, so that no change between the two is missed.
            try await client.listen()
            let readings: [PropertyReading]
            do throws(PropertyReadError) {
                readings = try await properties.readAll(but: cached?.lacking ?? [])
            } catch {
                guard case .module(let failure) = error else {
                    throw .value(error.sentence)
                }
                throw failure
            }
            return ComoduleSession(
                name: name,
                client: client,
                properties: properties,
                versions: versions,
                readings: readings
            )
        } catch { throw AttemptFailure(error) }
    }
}
