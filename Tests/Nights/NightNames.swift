import Base

/// What vehicles are called, now and in earlier nights, and which module is in each.
///
/// The judge knows each vehicle by its number. What the journal and the events say is translated
/// here, so that all of its sentences hold whatever a vehicle is called.
struct NightNames: Sendable, Equatable {
    /// The ids in the list, by number.
    private(set) var listed: [String]
    /// The number of the module in each vehicle.
    ///
    /// Each module has a spare one, whose number is greater by the number of
    /// vehicles.
    private(set) var modules: [Int]
    private var numbers: [String: Int] = [:]

    init(_ count: Int = 0) {
        listed = (0..<count).map(NightDepot.name)
        modules = Array(0..<count)
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

    /// The vehicle has the spare one of its module, or the other way round.
    mutating func refit(_ number: Int) {
        let module = modules[number]
        modules[number] = module < listed.count ? module + listed.count : module - listed.count
    }

    /// Two vehicles have each other's modules.
    mutating func swap(_ one: Int, _ other: Int) { modules.swapAt(one, other) }

    /// The row of a vehicle has the module of another one, which keeps it.
    mutating func twin(_ one: Int, _ other: Int) { modules[other] = modules[one] }

    func number(_ id: VehicleID) -> Int? { numbers[id.text] }

    /// The name by which the judge knows a vehicle.
    func name(_ id: VehicleID) -> String {
        numbers[id.text].map(NightDepot.name) ?? id.text
    }
}
