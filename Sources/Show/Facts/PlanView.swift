package import Base
package import Manifest
import Store

/// The part of a plan that is shown.
///
/// It comes from the plan itself, or from the copy that a fleet keeps for machines that do not have the plan. It has no
/// addresses of images and no secrets.
package struct PlanView: Sendable {
    /// From a fleet they have only ids, serials, families, profiles and labels.
    package let vehicles: [PlannedVehicle]
    /// When the rollout pauses, and what is required between waves, in words.
    package let gates: [String]
    /// The time between two waves.
    package let soak: Duration
    package let quarantineAfter: Int?
    /// The zone of the window; nil without a window.
    package let zone: String?
    /// The openings of the window for any of the vehicles, and the days on which nothing opens.
    private let openings: [Opening]
    private let freezes: [DayRule]
    /// The name of the manifest's file, without its folder.
    package let manifest: String?
    /// What people have approved of it; nil where no policy asks for that.
    package private(set) var approval: PlanApproval?
    private let cut: Cut

    private enum Cut: Sendable {
        case plan(FrozenPlan)
        /// The wave of each vehicle, from 0.
        case numbers([Int])
    }

    package init(_ plan: FrozenPlan, approval: PlanApproval? = nil) {
        self.approval = approval
        vehicles = plan.vehicles
        gates = plan.gates(among: plan.vehicles.count)
        soak = plan.rollout.between.soak
        quarantineAfter = plan.rollout.quarantineAfter
        zone = plan.rollout.window?.zone
        openings = plan.rollout.window?.openings(ofAny: plan.vehicles) ?? []
        freezes = plan.rollout.window?.freezes ?? []
        // Gateways may have the same manifest in different folders.
        manifest = plan.place.file.split(separator: "/").last.map(String.init)
        cut = .plan(plan)
    }

    /// When its window is open; nil without one, or where only its zone is known.
    package func openTimes(in zone: Zone) -> OpenTimes? {
        openings.isEmpty ? nil : OpenTimes(openings, not: freezes, zone: zone)
    }

    package var waves: [[VehicleID]] {
        switch cut {
        case .plan(let plan): return Waves.vehicles(plan)
        case .numbers(let numbers):
            var waves: [[VehicleID]] = []
            for (vehicle, number) in zip(vehicles, numbers) {
                while waves.count <= number { waves.append([]) }
                waves[number].append(vehicle.id)
            }
            return waves
        }
    }
}

// MARK: The copy of a fleet

extension PlanView {
    private static let form = "yardmaster-view-1"
    /// More than any plan has: each costs memory.
    private static let mostWaves = 100_000

    package var text: String {
        var numbers: [VehicleID: Int] = [:]
        for (number, wave) in waves.enumerated() {
            for vehicle in wave { numbers[vehicle] = number }
        }
        let rows = vehicles.map { vehicle in
            JSONValue.array(
                [
                    .string(vehicle.id.text), .string(vehicle.serial.text),
                    .string(vehicle.family.rawValue), .string(vehicle.profile),
                    .int(numbers[vehicle.id] ?? 0),
                ]
                    + vehicle.labels.filter { !$0.value.isEmpty }.flatMap {
                        [.string($0.name), .string($0.value)]
                    }
            )
        }
        return JSONValue.object([
            "form": .string(Self.form),
            "gates": .array(gates.map { .string($0) }),
            "soak-ms": .integer(soak.nanoseconds / 1_000_000),
            "zone": zone.map { .string($0) },
            "open": openings.isEmpty ? nil : .array(openings.map { .string("\($0)") }),
            "not": freezes.isEmpty ? nil : .array(freezes.map { .string("\($0)") }),
            "manifest": manifest.map { .string($0) },
            "quarantine-after": quarantineAfter.map { .int($0) },
            "vehicles": .array(rows),
            "approval": approval?.value,
        ]).text
    }

    /// A digest of the text.
    package static func mark(of text: String) -> String {
        SHA256.digest(of: Array(text.utf8)).description
    }

    /// The approval in a text.
    package static func approval(in text: String) -> PlanApproval? {
        (try? JSONValue(json: text))?["approval"].flatMap { PlanApproval($0) }
    }

    /// Nil for text that this program does not understand; `wanted` leaves out all other vehicles.
    package init?(text: String, of wanted: [VehicleID]? = nil) {
        guard let document = try? JSONValue(json: text), document["form"]?.string == Self.form,
            let rows = document["vehicles"]?.array
        else { return nil }
        var vehicles: [PlannedVehicle] = []
        var numbers: [Int] = []
        let place = Place(file: "", line: 0, column: 0)
        let names = wanted.map { Set($0.map(\.text)) }
        for row in rows {
            if let names, let id = row.array?.first?.string, !names.contains(id) { continue }
            guard let row = row.array, row.count >= 5,
                let id = row[0].string.flatMap({ VehicleID($0) }),
                let serial = row[1].string.flatMap({ Serial($0) }),
                let family = row[2].string.map({ Family(rawValue: $0) }),
                let profile = row[3].string,
                let wave = row[4].integer, (0..<Int64(Self.mostWaves)).contains(wave)
            else { return nil }
            let words = row.dropFirst(5).compactMap(\.string)
            let labels = stride(from: 0, to: words.count - words.count % 2, by: 2).map {
                Label(words[$0], words[$0 + 1])
            }
            vehicles.append(
                PlannedVehicle(
                    id: id,
                    serial: serial,
                    family: family,
                    profile: profile,
                    secret: nil,
                    labels: labels,
                    steps: [],
                    place: place
                )
            )
            numbers.append(Int(wave))
        }
        self.vehicles = vehicles
        gates = (document["gates"]?.array ?? []).compactMap(\.string)
        soak = .milliseconds(max(0, document["soak-ms"]?.integer ?? 0))
        zone = document["zone"]?.string
        func texts(_ name: String) -> [String] {
            (document[name]?.array ?? []).compactMap(\.string)
        }
        openings = texts("open").compactMap { try? Opening($0) }
        freezes = texts("not").flatMap { (try? DayRule.list($0)) ?? [] }
        manifest = document["manifest"]?.string
        quarantineAfter = document["quarantine-after"]?.integer.flatMap { Int(exactly: $0) }
        cut = .numbers(numbers)
        approval = document["approval"].flatMap { PlanApproval($0) }
    }
}
