package import Base
package import Commands
import Families
package import Manifest

/// Compares each car-share token with the vehicle that it is listed for, before any radio work.
///
/// A token opens the vehicle that it was issued for, regardless of the fleet list.
package struct TokenCheck {
    private let vehicles: [PlannedVehicle]
    private let secrets: SecretSource

    package init(_ plan: FrozenPlan, _ context: Context) {
        vehicles = plan.vehicles.filter { $0.tokenReference != nil }
        secrets = SecretSource(context: context)
    }

    /// Throws when a token of one of these vehicles is for another vehicle.
    package static func check(
        _ plan: FrozenPlan,
        for chosen: [PlannedVehicle],
        _ context: Context
    ) throws(CommandError) {
        guard context.reach.invented == nil else { return }
        let found = TokenCheck(plan, context).findings(for: Set(chosen.map(\.id)))
        guard !found.faults.isEmpty else { return }
        Inputs.tell(found.faults, context)
        throw refusal(found.faults)
    }

    package static func refusal(_ faults: [Diagnostic]) -> CommandError {
        CommandError(
            .trust,
            faults.count == 1
                ? "a car-share token is not for the vehicle that it is listed for"
                : "\(faults.count) car-share tokens are not for the vehicles that they are "
                    + "listed for",
            because: [faults[0].message],
            hint: "nothing was sent; 'yardmaster token show' prints whose a token is"
        )
    }

    /// Vehicles that have a GO device besides their module, but no serial for it.
    static func unnamed(_ plan: FrozenPlan) -> [Diagnostic] {
        plan.vehicles.compactMap { vehicle in
            guard vehicle.token != nil, vehicle.goSerial == nil,
                !FamilyRegistry.takesToken(vehicle.family)
            else { return nil }
            return Diagnostic(
                .error,
                vehicle.place,
                "vehicle \(vehicle.id) has a module and a GO device, but no `go-serial`",
                hint: "name it in the column `go-serial`; 'yardmaster token show' prints it"
            )
        }
    }

    /// The result of comparing the tokens of a plan.
    package struct Findings {
        /// Tokens for other vehicles.
        package var faults: [Diagnostic] = []
        /// Vehicles whose token could not be read here.
        var unread: [VehicleID] = []

        package init(faults: [Diagnostic] = [], unread: [VehicleID] = []) {
            self.faults = faults
            self.unread = unread
        }
    }

    /// The findings about these vehicles; about all of the plan's when none are given.
    package func findings(for chosen: Set<VehicleID>? = nil) -> Findings {
        var findings = Findings()
        var references: [SecretReference: PlannedVehicle] = [:]
        var tokens: [[UInt8]: PlannedVehicle] = [:]
        var hardware: [UInt64: PlannedVehicle] = [:]
        for vehicle in vehicles {
            guard let reference = vehicle.tokenReference else { continue }
            let isChosen = chosen?.contains(vehicle.id) ?? true
            var first = references[reference]
            references[reference] = first ?? vehicle
            if let token = token(reference, of: vehicle) {
                let reservation = token.reservation
                if isChosen, let fault = Self.fault(reservation, vehicle) {
                    findings.faults.append(fault)
                }
                first = first ?? tokens[token.reservationBytes]
                tokens[token.reservationBytes] = first ?? vehicle
                if reservation.hardwareID != 0 {
                    first = first ?? hardware[reservation.hardwareID]
                    hardware[reservation.hardwareID] = first ?? vehicle
                }
            } else if isChosen {
                findings.unread.append(vehicle.id)
            }
            guard let first, isChosen || chosen?.contains(first.id) == true else { continue }
            findings.faults.append(
                Diagnostic(
                    .error,
                    vehicle.place,
                    "the vehicles \(first.id) and \(vehicle.id) have the token of one vehicle",
                    hint: "each vehicle needs the token of its own GO device"
                )
            )
        }
        return findings
    }

    /// Nil when there is no readable token; callers that need it report why.
    private func token(_ reference: SecretReference, of vehicle: PlannedVehicle) -> CarShareToken? {
        guard let text = try? secrets.read(reference, of: "vehicle \(vehicle.id)") else {
            return nil
        }
        return try? CarShareToken(text: text)
    }

    /// The contradiction between the token and the list, nil when there is none.
    static func fault(
        _ reservation: CarShareReservation,
        _ vehicle: PlannedVehicle
    ) -> Diagnostic? {
        let listed =
            FamilyRegistry.takesToken(vehicle.family) ? vehicle.serial : vehicle.goSerial
        let cause: String
        if let listed, !reservation.serial.isEmpty, Serial(reservation.serial) != listed {
            let named = Serial(reservation.serial)?.text ?? reservation.serial.visible
            cause = "it is for the GO device \(named), the list says \(listed)"
        } else if let number = vehicle.hardwareID, UInt64(number) != reservation.hardwareID {
            cause = "it is for the hardware id \(reservation.hardwareID), the list says \(number)"
        } else {
            return nil
        }
        return Diagnostic(
            .error,
            vehicle.place,
            "the car-share token of vehicle \(vehicle.id) is for another vehicle: \(cause)"
        )
    }
}

extension PlannedVehicle {
    /// The reference to the token of its GO device, if it has one.
    var tokenReference: SecretReference? {
        FamilyRegistry.takesToken(family) ? secret ?? token : token
    }
}
