package import Domain

/// A connected module that has properties, of whatever family.
///
/// What a step does with properties it does through this face: `read`, `set` (`write`), `require`
/// (`read` and `PropertyTest.holds`), `expect` (`wait`), `watch` (`changes`). Names and values are
/// checked against the profile long before, by `Profile.value(of:for:)` and
/// `Profile.test(_:_:_:)`; a value that was not is refused here again, in the documented order.
package protocol PropertyHolder: AnyObject, Sendable {
    var profile: Profile { get }

    /// The property by its name, in the variant of this module.
    func property(_ name: String) async -> PropertySpec?

    /// Asks the module.
    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue

    /// Tells the module, and then asks it: what is returned is what it has taken.
    @discardableResult
    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue

    /// The next changes that the module tells of by itself, by name; empty at the deadline.
    ///
    /// Nothing is lost but what is older than what is returned.
    func changes(before deadline: Moment) async throws(PropertyReadError) -> [PropertyReading]
}

extension PropertyHolder {
    /// Waits until all tests hold at once; returns what does not hold at the deadline, by name.
    ///
    /// The module is asked at the beginning and the end, after each change it tells of, and every
    /// `interval`: not every module tells of every change.
    package func wait(
        for tests: [PropertyTest],
        before deadline: Moment,
        every interval: Duration = .seconds(1),
        by time: any Timekeeper
    ) async throws(PropertyReadError) -> [PropertyReading] {
        while true {
            var failing: [PropertyReading] = []
            for test in tests {
                let value = try await read(test.property)
                if !test.holds(for: value) {
                    failing.append(PropertyReading(test.property, value))
                }
            }
            if failing.isEmpty || time.now >= deadline { return failing }
            _ = try await changes(before: min(deadline, time.now.advanced(by: interval)))
        }
    }
}
