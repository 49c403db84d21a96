package import Base
package import Radio

/// The driver for vehicles whose only module is a GO device: it finds no modules.
///
/// A GO device connects to us; we cannot connect to it.
package struct CarShareDriver: UpdateDriver {
    private static let refusal = ModuleError.value(
        "a GO device connects to us; it cannot be connected to"
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
