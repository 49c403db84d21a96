import Dispatch
import Testing

/// Runs the tests.
///
/// Without this file the build generates one, after a search for XCTest tests, for which it builds
/// the index for editors; that takes a quarter of the build's time.
///
/// `main` is not asynchronous: in an optimised program, all asynchronous mains get the same body
/// (Swift 6.3.1), and the examples, which tests import, have their own.
@main enum AllTests {
    static func main() {
        // `swift test` also runs this program for XCTest tests, and there are none.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        Task { await Testing.__swiftPMEntryPoint() as Never }
        dispatchMain()
    }
}
