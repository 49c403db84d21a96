import Domain
import Modules
import Radio

/// One link to one module, from the first byte of the handshake to the last.
final class ModuleSession: Sendable {
    let name: ModuleName
    let client: ComoduleClient
    let properties: ComoduleProperties
    let versions: ModuleVersions
    /// What was read in the handshake.
    let readings: [PropertyReading]

    init(
        name: ModuleName,
        client: ComoduleClient,
        properties: ComoduleProperties,
        versions: ModuleVersions,
        readings: [PropertyReading]
    ) {
        self.name = name
        self.client = client
        self.properties = properties
        self.versions = versions
        self.readings = readings
    }

    /// What the properties are to begin with.
    var listing: PropertyList.Listing {
        let specs = properties.profile.properties(variant: properties.variant)
        let known = Set(readings.map(\.name))
        return PropertyList.Listing(
            readable: readings,
            writeOnly: specs.filter { !$0.access.isReadable },
            missing: specs.filter { $0.access.isReadable && !known.contains($0.name) }
        )
    }
}

/// Makes a session out of a peer that was heard: connects, authenticates, reads.
struct Handshake {
    let central: any Central
    let time: any Timekeeper
    let profile: Profile
    let key: ComoduleKey
    let name: ModuleName

    func session(
        with peer: Peer,
        cached: CachedModule?,
        before deadline: Moment
    ) async throws(AttemptFailure) -> ModuleSession {
        guard let layout = ComoduleLayout(profile.gatt) else {
            throw .final(
                .unexpected("modules of family \(profile.family.rawValue) have no session")
            )
        }
        let link: any Link
        do throws(RadioError) {
            link = try await central.connect(to: peer, before: deadline)
        } catch { throw AttemptFailure(error) }
        do throws(AttemptFailure) {
            try Self.check(link, layout)
            let client = ComoduleClient(
                link: ProfileShape.comodule.link(link, by: profile),
                time: time
            )
            return try await greet(client, cached)
        } catch {
            await link.disconnect()
            throw error
        }
    }

    /// A whole service that is missing is told as such.
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
    ) async throws(AttemptFailure) -> ModuleSession {
        do throws(ModuleError) {
            try await client.authenticate(key)
            let versions = try await client.versions(by: profile, known: cached)
            let properties = ComoduleProperties(
                client: client,
                profile: profile,
                variant: versions.variant,
                time: time
            )
            // Switched on before the first reading, so that no change falls between the two.
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
            return ModuleSession(
                name: name,
                client: client,
                properties: properties,
                versions: versions,
                readings: readings
            )
        } catch { throw AttemptFailure(error) }
    }
}
