import Testing

/// The list of guards that `scripts/mutants` breaks.
@Suite struct MutantTests {
    private struct Place {
        let file: String
        var old = ""
        var new = ""
    }

    /// The names of the guards, and the places of their switches.
    private func list() throws -> (guards: [String], places: [Place], tests: [String]) {
        var guards: [String] = []
        var tests: [String] = []
        var places: [Place] = []
        var file = ""
        var part = 0
        for line in try Repository.text("Bench/mutants/guards").split(
            separator: "\n",
            omittingEmptySubsequences: false
        ) {
            switch (part, line) {
            case (_, "<<<<"):
                places.append(Place(file: file))
                part = 1
            case (1, "===="): part = 2
            case (2, ">>>>"): part = 0
            case (1, _): places[places.count - 1].old += line + "\n"
            case (2, _): places[places.count - 1].new += line + "\n"
            default:
                if line.hasPrefix("in ") { file = String(line.dropFirst(3)) }
                if line.hasPrefix("by "), let colon = line.firstRange(of: ": ") {
                    tests.append(String(line[colon.upperBound...]))
                }
                guard line.hasPrefix("guard ") else { continue }
                guards.append(String(line.dropFirst(6).prefix { $0 != ":" }))
            }
        }
        return (guards, places, tests)
    }

    @Test func `each guard that is broken for a trial stands where the list says`() throws {
        let (guards, places, _) = try list()
        #expect(guards.count >= 240 && Set(guards).count == guards.count)
        for place in places {
            let count = try Repository.text(place.file).ranges(of: place.old).count
            #expect(
                count == 1,
                """
                \(place.file) has changed: bring Bench/mutants/guards up to date, where it has
                \(place.old)
                """
            )
        }
        // The copy is not built in the gate, and a lost brace in it was not noticed for a day.
        for place in places {
            func depth(_ text: String) -> Int {
                text.count { $0 == "{" } - text.count { $0 == "}" }
            }
            #expect(
                depth(place.old) == depth(place.new),
                "\(place.file): the braces do not match in\n\(place.new)"
            )
        }
        let switched = places.map(\.new).joined()
        for name in guards { #expect(switched.contains("mutant(\"\(name)\")"), "\(name)") }
    }

    @Test func `each test that is said to notice a broken guard exists`() throws {
        let tests = try list().tests
        var there: Set<Substring> = []
        for line in try Repository.sources("Tests").flatMap(\.lines) {
            let parts = line.split(separator: "`", omittingEmptySubsequences: false)
            if parts.count == 3, parts[0].hasSuffix("func ") { there.insert(parts[1]) }
        }
        #expect(tests.count >= 240)
        for test in tests { #expect(there.contains(Substring(test)), "\(test)") }
    }
}
