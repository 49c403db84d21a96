package import Domain
package import Modules
package import Radio

/// Stands for the module of a vehicle that has none besides its GO device: nothing is ever heard.
///
/// A GO device comes to us; there is nobody to connect to.
package struct CarShareDriver: UpdateDriver {
    private static let refusal = ModuleError.value(
        "a GO device is not connected to: it comes to us"
    )

    package init() {}

    package var family: Family { .geotabGo }
    package var usesBootloader: Bool { false }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(family: .geotabGo, form: nil)
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication { throw Self.refusal }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver { throw Self.refusal }
}
