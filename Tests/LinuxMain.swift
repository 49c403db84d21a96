import Dispatch
import Testing

/// Runs the tests.
///
/// Without this file the build makes one of its own, after a search for tests of the older kind, for which it
/// needs the index for editors, and that takes a quarter of its time.
///
/// Not an asynchronous `main`: optimised, all of a program's asynchronous mains have one body (Swift 6.3.1), and
/// the examples, which tests import, have theirs.
@main enum AllTests {
    static func main() {
        // Tests of the older kind, for which `swift test` asks as well, there are none.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        Task { await Testing.__swiftPMEntryPoint() as Never }
        dispatchMain()
    }
}
