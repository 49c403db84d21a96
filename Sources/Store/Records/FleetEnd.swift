package import Base

/// The verdict of a vehicle, from any gateway.
package struct FleetEnd: Sendable, Equatable {
    package let vehicle: VehicleID
    package let outcome: Outcome
    package let failure: FailureClass?
    package let sentence: String
    package let version: FirmwareVersion?
    /// Empty for a verdict that no single gateway found.
    package let gateway: String
}
