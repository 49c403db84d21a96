package import Base

/// A row of a fleet list that names the secret of a module; rows that a plan does not select are
/// holders, too.
package struct SecretHolder: Sendable, Equatable {
    package let vehicle: VehicleID
    package let secret: SecretReference
    /// The place of the reference.
    package let place: Place

    package init(_ vehicle: VehicleID, _ secret: SecretReference, at place: Place) {
        self.vehicle = vehicle
        self.secret = secret
        self.place = place
    }
}
