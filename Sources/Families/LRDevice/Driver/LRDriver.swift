package import Base
package import Radio

/// The driver of family `lrdevice`: it finds devices and talks to them; they take no images.
package struct LRDriver: UpdateDriver {
    private let profile: Profile
    private let credentials: LRCredentials?

    /// Without credentials, only features that are not sealed can be used.
    package init(profile: Profile, credentials: LRCredentials? = nil) {
        self.profile = profile
        self.credentials = credentials
    }

    package static let modules = Family.lrdevice
    package var family: Family { Self.modules }
    package var usesBootloader: Bool { false }
    package var tellsVersions: Bool { false }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(family: .lrdevice, form: profile.advertisement)
    }

    /// The device, prepared for requests, with the characteristics that the profile names.
    package func client(
        on link: any Link,
        time: any Timekeeper
    ) async throws(LRError) -> sending LRClient {
        try await LRClient(
            link: ProfileShape.lrdevice.link(link, by: profile),
            time: time,
            answerLimit: profile.answerLimit
        )
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        do throws(LRError) {
            return LRApplication(
                client: try await client(on: link, time: time),
                profile: profile,
                credentials: credentials,
                time: time
            )
        } catch {
            guard case .radio(let radio) = error else { throw .value(error.description) }
            throw .radio(radio)
        }
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        throw .value(LRApplication.refusal)
    }
}

/// An LR device on a link, as steps use it.
package final class LRApplication: ModuleApplication {
    static let refusal = "devices of family lrdevice take no images"

    package let client: LRClient
    package var credentials: LRCredentials?
    private let holder: LRProperties

    init(
        client: LRClient,
        profile: Profile,
        credentials: LRCredentials?,
        time: any Timekeeper
    ) {
        self.client = client
        self.credentials = credentials
        holder = LRProperties(client: client, profile: profile, time: time)
    }

    package func properties() async throws(ModuleError) -> (any PropertyHolder)? { holder }

    package var receiver: (any ImageReceiver)? { nil }
    package var features: (any FeatureHolder)? { self }

    package func inspect(_ order: UpdateOrder) async throws(ModuleError) -> Inspection {
        throw .value(Self.refusal)
    }

    package func observe(
        _ order: UpdateOrder,
        at moment: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> Observation { throw .value(Self.refusal) }

    package func prepare(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value(Self.refusal)
    }

    package func confirm(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value(Self.refusal)
    }

    package func rollBack(_ order: UpdateOrder) async throws(ModuleError) {
        throw .value(Self.refusal)
    }

    package func disconnect() async { await client.disconnect() }
}
