import Glibc

/// What did not come about while a test waited for it.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String
}

// The only places where tests look again and again at what nobody tells them of. The time is for a
// machine that has much else to do; nothing is measured by it.

/// Waits for what another thread or process brings about.
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

/// Waits for what another task brings about.
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
