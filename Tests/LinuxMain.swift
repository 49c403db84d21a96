import Testing

/// Runs the tests.
///
/// Without this file the build makes one of its own, after a search for tests of the older kind, for which it
/// needs the index for editors, and that takes a quarter of its time.
@main enum AllTests {
    static func main() async {
        // Tests of the older kind, for which `swift test` asks as well, there are none.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
