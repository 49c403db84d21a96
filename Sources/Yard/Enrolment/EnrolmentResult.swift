package import Base
package import Commands
import Operations
import Store

/// The result for a vehicle that was to be enrolled.
package struct EnrolmentResult: Sendable {
    /// The words in output.
    enum Ending: String, Sendable {
        case enrolled, undone, unreachable, failed
    }

    let vehicle: VehicleID
    var serial: Serial?
    var outcome: Ending
    var message: String
    var firmware: [InventoryRecord.Fact] = []
    var secret: String?
    var fault: EnrolFault.Kind?

    package var isFailed: Bool { fault != nil }

    /// One line for people.
    package var text: String { "\(vehicle) \(outcome.rawValue): \(message)\n" }

    /// The exit code of a command with these results; a signal that ended it has a code of its own.
    package static func exitCode(of results: [EnrolmentResult]) -> ExitCode {
        let faults = results.compactMap(\.fault)
        if faults.isEmpty { return .done }
        return faults.allSatisfy { $0 == .notHeard } ? .someMissed : .someFailed
    }

    package static func document(_ results: [EnrolmentResult], _ code: ExitCode) -> JSONValue {
        .object([
            "schema": 1,
            "vehicles": .array(
                results.map { result in
                    .object([
                        "vehicle": .string(result.vehicle.text),
                        "serial": result.serial.map { .string($0.text) },
                        "outcome": .string(result.outcome.rawValue),
                        "message": .string(result.message),
                        "secret": result.secret.map { .string($0) },
                        "firmware": .object(
                            result.firmware.map { JSONMember($0.name, .string($0.value)) }
                        ),
                    ])
                }
            ),
            "exit": code.json,
        ])
    }
}
