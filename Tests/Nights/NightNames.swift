import Domain

/// What vehicles are called, now and in earlier nights.
///
/// The judge knows each vehicle by its number. What the journal and the events say is translated
/// here, so that all of its sentences hold whatever a vehicle is called.
struct NightNames: Sendable, Equatable {
    /// The ids in the list, by number.
    private(set) var listed: [String]
    private var numbers: [String: Int] = [:]

    init(_ count: Int = 0) {
        listed = (0..<count).map(NightDepot.name)
        for (number, name) in listed.enumerated() { numbers[name] = number }
    }

    /// The list has an id for the vehicle that no vehicle has had.
    mutating func call(_ number: Int) {
        var name = listed[number]
        repeat { name += "b" } while numbers[name] != nil
        listed[number] = name
        numbers[name] = number
    }

    /// Two vehicles have each other's ids, in the list and in all that is known of them.
    mutating func exchange(_ one: Int, _ other: Int) {
        listed.swapAt(one, other)
        numbers[listed[one]] = one
        numbers[listed[other]] = other
    }

    func number(_ id: VehicleID) -> Int? { numbers[id.text] }

    /// The name by which the judge knows a vehicle.
    func name(_ id: VehicleID) -> String {
        numbers[id.text].map(NightDepot.name) ?? id.text
    }
}
