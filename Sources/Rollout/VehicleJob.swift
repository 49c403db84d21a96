package import Domain
package import Manifest
package import Modules
package import Sessions

/// All that is to be done on one vehicle, with everything it takes: no name is left to look up.
package struct VehicleJob: Sendable {
    package let vehicle: VehicleID
    package let serial: Serial
    /// How its module is heard, opened and updated.
    package let driver: any UpdateDriver
    package let steps: [JobStep]

    package init(
        vehicle: VehicleID,
        serial: Serial,
        driver: any UpdateDriver,
        steps: [JobStep]
    ) {
        self.vehicle = vehicle
        self.serial = serial
        self.driver = driver
        self.steps = steps
    }

    /// A vehicle with a Comodule module.
    package init(vehicle: VehicleID, serial: Serial, key: ComoduleKey, steps: [JobStep]) {
        self.init(
            vehicle: vehicle,
            serial: serial,
            driver: ComoduleUpdate(key: key),
            steps: steps
        )
    }
}

/// One step, ready to be done.
package enum JobStep: Sendable {
    case require([Requirement], otherwise: Otherwise)
    case update(UpdateJob)
}

/// A condition on a property that the module has.
package struct Requirement: Sendable, Equatable {
    package let property: Property
    package let condition: Condition

    package init(_ property: Property, _ condition: Condition) {
        self.property = property
        self.condition = condition
    }
}

/// A value of the generic Comodule profile that can be a precondition.
package enum Property: String, Sendable, CaseIterable {
    /// In percent.
    case stateOfCharge = "state_of_charge"
    /// In km/h.
    case speed
}
