import Glibc

/// Something that did not happen within the time for which a test waited.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String
}

// These are the only places where tests poll something that sends no event. The time allows for a
// busy machine; it measures nothing.

/// Waits until another thread or process has made `isSo` true.
package func wait(
    for what: String,
    within time: Duration = .seconds(120),
    until isSo: () throws -> Bool
) throws {
    let end = ContinuousClock.now + time
    while try !isSo() {
        guard ContinuousClock.now < end else {
            throw NotInTime(description: "waited \(time) for \(what)")
        }
        usleep(2_000)
    }
}

/// Waits until another task has made `isSo` true.
package func wait(
    for what: String,
    within time: Duration = .seconds(120),
    isolation: isolated (any Actor)? = #isolation,
    until isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + time
    while try await !isSo() {
        guard ContinuousClock.now < end else {
            throw NotInTime(description: "waited \(time) for \(what)")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
