/// A vehicle that one of several machines leaves to the others.
package struct LeftVehicle: Sendable, Equatable {
    package let vehicle: VehicleID
    /// The verdict of this machine; nil when it only did not hear the vehicle.
    package let outcome: Outcome?
    package let failure: FailureClass?
    package let sentence: String

    package init(
        _ vehicle: VehicleID,
        _ outcome: Outcome? = nil,
        _ failure: FailureClass? = nil,
        _ sentence: String = ""
    ) {
        (self.vehicle, self.outcome) = (vehicle, outcome)
        (self.failure, self.sentence) = (failure, sentence)
    }
}
