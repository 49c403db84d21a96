package import Base

/// A recall, with the modules that have its image.
package struct RecallUse: Sendable, Equatable {
    package let recall: Recall
    /// Modules to which a transfer of it has begun, and which were not seen at rest since.
    package let halfSent: [Debt]
    /// What was sent to the modules that run it, as far as it was installed by us.
    package let running: [Transfer]

    /// The vehicles that run it, each once.
    package var vehicles: [VehicleID] { Set(running.map(\.vehicle)).sorted() }

    package static func uses(
        of recalls: [Recall],
        _ transfers: [Transfer],
        _ debts: [Debt]
    ) -> [RecallUse] {
        let running = transfers.running
        return recalls.map { recall in
            RecallUse(
                recall: recall,
                halfSent: debts.filter { $0.image == recall.image }
                    .sorted { $0.vehicle < $1.vehicle },
                running: running.filter { $0.image == recall.image }
            )
        }
    }

    /// Sentences for people about the vehicles that have the image, those with half of it first; only
    /// about these vehicles, if they are given.
    package func sentences(among chosen: Set<VehicleID>? = nil) -> [String] {
        func isMeant(_ vehicle: VehicleID) -> Bool { chosen?.contains(vehicle) ?? true }
        let name = recall.name.visible
        var lines = halfSent.filter { isMeant($0.vehicle) }.map { debt in
            "\(debt.vehicle.text.visible): has \(debt.percent) % of \(name), which is recalled; the next "
                + "run finishes it, as under an abort"
        }
        let vehicles = vehicles.filter(isMeant)
        guard !vehicles.isEmpty else { return lines }
        let verb = vehicles.count == 1 ? "runs" : "run"
        lines.append(
            "\(vehicles.firstNames) \(verb) \(name), which is recalled, by \(recall.author.visible): "
                + recall.reason.visible
        )
        return lines
    }
}

extension [VehicleID] {
    /// The first ten for people, and how many there are beyond.
    package var firstNames: String {
        let names = prefix(10).map(\.text.visible).joined(separator: ", ")
        return names + (count > 10 ? " and \(count - 10) more" : "")
    }
}

extension JournalView {
    /// The recalls, with the modules that have their images.
    package func recallUses() throws(JournalError) -> [RecallUse] {
        let recalls = try recalls()
        return recalls.isEmpty ? [] : RecallUse.uses(of: recalls, try transfers(), try debts())
    }
}

extension FleetDatabase {
    /// The recalls, with the modules that have their images.
    package func recallUses(_ debts: [Debt]) throws(FleetError) -> [RecallUse] {
        let recalls = try recalls()
        guard !recalls.isEmpty else { return [] }
        return RecallUse.uses(of: recalls, try running(recalls.map(\.image)), debts)
    }
}
