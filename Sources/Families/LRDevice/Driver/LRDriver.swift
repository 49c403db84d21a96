package import Domain
package import Modules
package import Radio
package import Sessions

/// How devices of family `lrdevice` are heard and spoken to; they take no images.
package struct LRDriver: UpdateDriver {
    private let form: AdvertisementForm
    private let credentials: LRCredentials?

    /// Nil for a profile that says nothing about how its devices advertise; without credentials
    /// only features that are not sealed can be used.
    package init?(profile: Profile, credentials: LRCredentials? = nil) {
        guard let form = profile.advertisement else { return nil }
        self.form = form
        self.credentials = credentials
    }

    package var family: Family { .lrdevice }
    package var usesBootloader: Bool { false }

    package func filter(for serial: Serial) -> ScanFilter {
        let form = form
        return ScanFilter(
            services: form.service.map { [$0] } ?? [],
            companies: form.company.map { [$0] } ?? []
        ) { form.serial(in: $0) == serial }
    }

    package func sighting(
        of serial: Serial,
        in advertisement: Advertisement
    ) -> ModuleSighting? {
        guard form.serial(in: advertisement) == serial else { return nil }
        return ModuleSighting(serial: serial, role: .application, advertisement: advertisement)
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        do throws(LRError) {
            return LRApplication(
                client: try await LRClient(link: link, time: time),
                credentials: credentials
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

/// An LR device on a link, as steps see it.
package final class LRApplication: ModuleApplication {
    static let refusal = "devices of family lrdevice take no images"

    let client: LRClient
    let credentials: LRCredentials?

    init(client: LRClient, credentials: LRCredentials?) {
        self.client = client
        self.credentials = credentials
    }

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
