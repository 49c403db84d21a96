import Foundation
import Testing

/// A program that follows a module for a long time does not grow: measured over simulated time, in
/// a separate process.
@Suite(.timeLimit(.minutes(5))) struct LibraryMemoryTests {
    /// Twenty properties, all of which change with each record of the module's speed.
    private static let profile = """
        profile: twenty
        family: comodule
        title: Twenty properties
        known-from: this test
        advertisement:
          company: "020f"
          serial: {in: manufacturer-data, at: 0, length: 8, form: hex}
        gatt:
          metrics:
            service: 00001554-1212-efde-1523-785feabcd123
            notifier: 0000155e-1212-efde-1523-785feabcd123
            register: 0000155f-1212-efde-1523-785feabcd123
            selector: 00001564-1212-efde-1523-785feabcd123
          security:
            service: 00002554-1212-efde-1523-785feabcd123
            key: 00002555-1212-efde-1523-785feabcd123
            challenge: 00002556-1212-efde-1523-785feabcd123
            response: 00002557-1212-efde-1523-785feabcd123
            authenticated: 00002558-1212-efde-1523-785feabcd123
        authentication: challenge-response
        properties:

        """
        + (1...20).map { number in
            "  - {name: p\(number), type: range, access: read-only, scale: \(number),\n"
                + "     read: {register: \"0201\", at: 2, bytes: 2, order: little}}\n"
        }.joined()
            + """
            firmware:
              - {part: secondary, protocol: secure-dfu, selector: "00", version: {information: "2a26"}}

            """

    @Test func `twenty properties at a hundred changes a second leave memory as it was`() throws {
        let program = try Program()
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/profiles",
            withIntermediateDirectories: true
        )
        try program.write("profiles/twenty.yaml", Self.profile)
        try program.write("demo.key", "11\n")
        // Five records per second, each of which changes all twenty.
        try program.write(
            "depot.yaml",
            """
            name: follow
            seed: 3
            modules:
              - {serial: "00a0000000000001", key: "11", type: 17, version: "4.11.3",
                 faults: [{storm: 5}]}

            """
        )
        func hours(_ count: Int) throws -> [(changes: Int, missed: Int, resident: Int)] {
            let run = try ExampleProgram.run(
                "FollowModule",
                [
                    "depot.yaml", "demo.key", "00a0000000000001", String(count), "profiles",
                    "twenty",
                ],
                in: program.folder.path
            )
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.hasPrefix("20 properties are followed"), "\(run.output)")
            return run.output.matches(
                of: /after \d+ h: \d+ values, (\d+) changes and (\d+) missed; resident: (\d+) KiB/
            ).compactMap { match in
                guard let changes = Int(match.1), let missed = Int(match.2),
                    let resident = Int(match.3)
                else { return nil }
                return (changes, missed, resident)
            }
        }
        let count =
            ProcessInfo.processInfo.environment["YARDMASTER_FOLLOW_HOURS"].flatMap { Int($0) } ?? 2
        let found = try hours(count)
        let (first, last) = (try #require(found.first), try #require(found.last))
        // The module sent as much as it should: a hundred changes per second.
        #expect(first.changes + first.missed > 350_000, "\(first)")
        #expect(last.changes + last.missed > 350_000 * count, "\(last)")
        #expect(last.resident - first.resident < 2_048, "\(first.resident) to \(last.resident) KiB")
    }
}
