package import Base

/// When work on a vehicle may start.
package struct Window: Sendable, Hashable {
    /// The openings of the vehicles with some values of a label, by the value.
    package struct Own: Sendable, Hashable {
        /// `family`, `profile`, or the name of a column.
        package let label: String
        package let openings: [String: [Opening]]
    }

    /// What happens to vehicles in work when the window closes.
    package enum Close: String, Sendable, Hashable, CaseIterable {
        /// They are finished.
        case finish
        /// They are left at their next safe point, where the next run continues.
        case safePoint = "safe-point"
        /// Their links are ended immediately; the next run continues from the modules' state.
        case stop
    }

    package let openings: [Opening]
    /// The days on which nothing opens.
    package let freezes: [DayRule]
    package let own: Own?
    /// An IANA name.
    package let zone: String
    package let close: Close

    package init(
        _ openings: [Opening],
        not freezes: [DayRule] = [],
        own: Own? = nil,
        zone: String,
        close: Close = .finish
    ) {
        self.openings = openings
        self.freezes = freezes
        self.own = own
        self.zone = zone
        self.close = close
    }

    /// The openings of a vehicle.
    package func openings(of vehicle: PlannedVehicle) -> [Opening] {
        own.flatMap { $0.openings[vehicle.value(of: $0.label)] } ?? openings
    }

    /// The openings of any of these vehicles.
    package func openings(ofAny vehicles: [PlannedVehicle]) -> [Opening] {
        guard own != nil, !vehicles.isEmpty else { return openings }
        var all: [Opening] = []
        for list in Set(vehicles.map(openings(of:))) {
            all += list.filter { !all.contains($0) }
        }
        return all.sorted { "\($0)" < "\($1)" }
    }

    /// Its only opening, when that has a length and is one of each day.
    var nightly: (from: TimeOfDay, length: Duration)? {
        guard openings.count == 1, openings[0].days.isEmpty,
            case .after(let length) = openings[0].end
        else { return nil }
        return (openings[0].from, length)
    }

    /// The text for people: `from 01:00 Europe/Tallinn for 4h`, or the rules as they are written.
    package var words: String {
        func list(_ items: [some CustomStringConvertible]) -> String {
            items.map(\.description).joined(separator: ", ")
        }
        if let nightly, freezes.isEmpty, own == nil {
            return "from \(nightly.from) \(zone) for \(nightly.length.brief)"
        }
        let days = freezes.isEmpty ? "" : ", not \(list(freezes))"
        let own = own.map { own in
            own.openings.sorted { $0.key < $1.key }
                .map { "; \(own.label) \($0.key.visible): \(list($0.value))" }.joined()
        }
        return "\(list(openings))\(own ?? "")\(days) (\(zone))"
    }

    /// Whether `not` has all days of these openings; openings on dates may only be over.
    func neverOpens(_ openings: [Opening]) -> Bool {
        let hasDates = openings.contains { opening in
            opening.days.contains { if case .dates = $0 { true } else { false } }
        }
        let start = WallTime(milliseconds: 0)
        return !hasDates && times(openings, in: .utc).state(at: start) == .closed(opens: nil)
    }

    /// The times of openings in the zone that has this window's name.
    package func times(_ openings: [Opening], in zone: Zone) -> OpenTimes {
        OpenTimes(openings, not: freezes, zone: zone)
    }
}

extension FrozenPlan {
    /// When any of its vehicles may be begun; nil without a window.
    package func openTimes(in zone: Zone) -> OpenTimes? {
        rollout.window.map { $0.times($0.openings(ofAny: vehicles), in: zone) }
    }
}
