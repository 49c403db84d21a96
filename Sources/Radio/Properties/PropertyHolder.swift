package import Base

/// A connected module of any family that has properties.
///
/// Steps access properties only through this protocol: `read`, `set` (`write`), `require` (`read`
/// and `PropertyTest.holds`), `expect` (`wait`), `watch` (`changes`). Names and values were checked
/// against the profile long before, by `Profile.value(of:for:)` and `Profile.test(_:_:_:)`. A value
/// that was not checked is rejected here, in the documented order.
package protocol PropertyHolder: AnyObject, Sendable {
    var profile: Profile { get }

    /// The property of this name, in the variant of this module.
    func property(_ name: String) async -> PropertySpec?

    /// Reads the value from the module.
    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue

    /// Reads every readable property; leaves out those that the module does not have.
    ///
    /// `lacking` are registers known to be missing.
    func readAll(
        but lacking: Set<UInt16>
    ) async throws(PropertyReadError) -> [PropertyReading]

    /// Writes the value to the module, and reads it back: returns the value that the module has
    /// taken.
    @discardableResult
    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue

    /// The next changes that the module reports unasked, by name; empty at the deadline.
    ///
    /// Only changes that are older than the returned ones may be lost.
    func changes(before deadline: Moment) async throws(PropertyReadError) -> [PropertyReading]
}

extension PropertyHolder {
    package func readAll(
        but lacking: Set<UInt16>
    ) async throws(PropertyReadError) -> [PropertyReading] {
        var readings: [PropertyReading] = []
        for spec in profile.properties where spec.access.isReadable {
            do throws(PropertyReadError) {
                readings.append(PropertyReading(spec.name, try await read(spec.name)))
            } catch {
                guard case .module(let failure) = error else { continue }
                guard failure.failureClass != .transient else { throw error }
            }
        }
        return readings
    }

    /// Waits until all tests hold at the same time; returns the values of those that do not hold at
    /// the deadline, by name.
    ///
    /// The values are read at the beginning and at the end, after each change that the module
    /// reports, and at every `interval`, since not every module reports every change.
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
