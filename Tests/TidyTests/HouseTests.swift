import Foundation
import Testing

/// Rules of the house that a machine can check.
@Suite struct HouseTests {
    /// The rooms in the order of the architecture document, the only place that lists them.
    private static func rooms() throws -> [String] {
        try Repository.text("docs/architecture.md").split(separator: "\n")
            .compactMap { $0.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.1) } }
    }

    @Test func `a room imports only what stands above it`() throws {
        let rooms = try Self.rooms()
        #expect(rooms.count > 12 && Set(rooms).count == rooms.count)
        let all = try Repository.sources()
        #expect(all.count > 100)
        for source in all {
            let own = try #require(rooms.firstIndex(of: source.room), "\(source.room) is no room")
            for name in Repository.imports(source) {
                guard let other = rooms.firstIndex(of: name) else { continue }
                #expect(other < own, "\(source.name) imports \(name)")
            }
        }
    }

    /// Decisions are made in the rooms, where tests can import them without `@testable`.
    @Test func `the executable holds commands only`() throws {
        let endings = ["Command", "Options", "Display", "Watch", "Yardmaster"]
        for source in try Repository.sources() where source.room == "yardmaster" {
            #expect(endings.contains { source.name.hasSuffix("\($0).swift") }, "\(source.name)")
            #expect(source.lines.count < 300, "\(source.name)")
        }
        for source in try Repository.sources("Tests") where !source.name.hasPrefix("Tests/Tidy") {
            let imports = source.lines.filter { $0.hasPrefix("@testable import yardmaster") }
            #expect(imports.isEmpty, "\(source.name)")
        }
    }

    @Test func `nothing outside its folder names a family`() throws {
        let registry = try Repository.text("Sources/Families/FamilyRegistry.swift")
        let list = try #require(registry.firstMatch(of: /let all: \[Entry\] = \[([^\]]+)\]/))
        let families = list.1.split { !$0.isLetter }.map(String.init)
        #expect(families.count > 5)
        var namers: Set<String> = []
        for source in try Repository.sources()
        where source.room != "Families" || source.name.contains("/Protocols/") {
            for line in source.lines {
                let isNamed = families.contains { family in
                    line.contains(".\(family)")
                        && line.split { !$0.isLetter && $0 != "." }
                            .contains { $0.hasSuffix(".\(family)") }
                }
                if isNamed { namers.insert(source.name) }
            }
        }
        #expect(namers.isEmpty, "\(namers.sorted())")
    }

    @Test func `no source needs Foundation`() throws {
        for source in try Repository.sources() {
            let found = Repository.imports(source).filter { $0.hasPrefix("Foundation") }
            #expect(found.isEmpty, "\(source.name)")
        }
    }

    @Test func `nothing below the executable sleeps or asks the real time`() throws {
        let words = ["Task" + ".sleep", "us" + "leep(", "Thread" + ".sleep"]
        for source in try Repository.sources() {
            for line in source.lines {
                #expect(!words.contains { line.contains($0) }, "\(source.name): \(line)")
            }
        }
        for source in try Repository.sources() where source.room != "yardmaster" {
            // Real time is used for the pace of a simulation and for programs that use the library,
            // which pass no clock; the machine's own clock is read and waited for in two places.
            let edges = [
                "Simulation/Simulation.swift", "VehicleModules/HostRadio.swift",
                "Operations/Machine/RealTime.swift", "Operations/Machine/FetchTime.swift",
            ]
            guard !edges.contains(where: source.name.hasSuffix) else { continue }
            for line in source.lines {
                #expect(!line.contains("ContinuousClock"), "\(source.name): \(line)")
                #expect(!line.contains("CLOCK_REALTIME"), "\(source.name): \(line)")
            }
        }
    }

    /// Polling of something that sends no event is in one file, with a deadline and a name.
    @Test func `no test spins or sleeps in a loop of its own`() throws {
        let words = ["Task" + ".sleep", "us" + "leep(", "Thread" + ".sleep", "sched" + "_yield"]
        let spin = try Regex("while .*\\{ *(\\}|await Task.yield\\(\\) *\\})$")
        // Lines of loops that end by their own calls.
        let good = ["waitpid(", "while connection.send(", "case .send = machine", "group.next()"]
        for source in try Repository.sources("Tests")
        where !source.name.hasSuffix("Workbench/Waiting.swift") {
            // The ticker of this file gives tests their time, and waits for nothing.
            guard !source.name.hasSuffix("PrivateBus/FairTime.swift") else { continue }
            for line in source.lines where !good.contains(where: { line.contains($0) }) {
                let isSpin = line.contains(spin) || words.contains { line.contains($0) }
                #expect(!isSpin, "\(source.name): use `wait(for:)` instead of\(line)")
            }
        }
    }

    @Test func `no marker of unfinished work is left`() throws {
        let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
        for source in try Repository.sources() + Repository.sources("Tests") {
            for line in source.lines {
                let words = line.split { !$0.isLetter }.map(String.init)
                #expect(markers.allSatisfy { !words.contains($0) }, "\(source.name): \(line)")
            }
        }
    }

    /// A new case must be handled in every switch.
    ///
    /// Named numbers, which are no enums, may have a default.
    @Test func `no switch over cases of ours has a default`() throws {
        let sources = try Repository.sources()
        let numbers = Set(
            sources.flatMap(\.lines).filter { $0.contains("static let ") }.compactMap {
                $0.firstMatch(of: /static let (\w+) = (?:Self|\w+)\(/).map { String($0.1) }
            }
        )
        var count = 0
        for source in sources {
            // The depth and subject of each open switch, and the cases that its labels name.
            var open: [(depth: Int, subject: Substring, names: [String])] = []
            for (index, line) in source.lines.enumerated() {
                let depth = line.prefix { $0 == " " }.count
                let text = line.dropFirst(depth)
                open.removeAll { $0.depth > depth || $0.depth == depth && text.hasPrefix("}") }
                if text.hasSuffix("{"), let word = text.firstRange(of: "switch ") {
                    open.append((depth, text[word.upperBound...].dropLast(2), []))
                    count += 1
                } else if let last = open.indices.last, open[last].depth == depth {
                    if text.hasPrefix("case ") {
                        // Only the beginning of the label: the rest may name cases of other types.
                        let name = text.dropFirst(5).drop { $0 == "(" }
                        guard name.hasPrefix("."), !name.hasPrefix("..") else { continue }
                        let word = name.dropFirst().prefix { $0.isLetter || $0.isNumber }
                        open[last].names.append(String(word))
                    } else if text.hasPrefix("default:"), !open[last].subject.hasPrefix("(") {
                        let cases = open[last].names
                            .filter { $0 != "some" && !numbers.contains($0) }
                        #expect(cases.isEmpty, "\(source.name):\(index + 1)")
                    }
                }
            }
        }
        #expect(count > 500)
    }

    @Test func `what the compiler cannot check has its reason beside it`() throws {
        let words = ["@unchecked" + " Sendable", "nonisolated(un" + "safe)"]
        for source in try Repository.sources() {
            var isExplained = false
            for line in source.lines {
                let isComment = line.contains("//")
                if words.contains(where: { line.contains($0) }) {
                    #expect(isExplained || isComment, "\(source.name): \(line)")
                } else {
                    isExplained = isComment
                }
            }
        }
    }

    /// Otherwise the compiler does not inline its methods into other rooms, without a warning.
    @Test func `a type with inlinable methods is usable from inline itself`() throws {
        var count = 0
        // A regular expression takes its time: the other files have nothing to ask.
        let inlinable = try Repository.sources().filter { source in
            source.lines.contains { $0.contains("@inlinable") }
        }
        for source in inlinable {
            var type: Substring = ""
            for line in source.lines {
                let isType = line.contains(
                    /^(@\w+ )*(package |private |final )*(struct|class|enum|extension)\s/
                )
                if isType { type = line }
                guard line.contains("@inlinable") else { continue }
                count += 1
                let isOutside = type.hasPrefix("extension")
                #expect(isOutside || type.hasPrefix("@usableFromInline"), "\(source.name): \(type)")
            }
        }
        #expect(count > 10)
    }

    @Test func `nothing below the executable prints`() throws {
        for source in try Repository.sources() where source.room != "yardmaster" {
            for line in source.lines where line.contains("rint(") || line.contains("dump(") {
                let called = line.replacing("func print(", with: "")
                    .contains(/(^|[^.\w])(print|debugPrint|dump)\(/)
                #expect(!called, "\(source.name): \(line)")
            }
        }
    }

    /// A rehearsal has no `RealWorld`, and its `OutsideFile` is a copy.
    @Test func `what changes the world has one way, which a rehearsal does not get`() throws {
        let reach = "Operations/Reach/Reach.swift"
        // What is called where, without its parenthesis: a copy of such a line is a second way.
        let places = [
            "RealWorld": [reach], "OutsideFile": [reach], "FedProgram": [reach], "WebPost": [reach],
            "WebSession": [reach],
            "BlueZ": ["Operations/Machine/HostBluetooth.swift"],
            "Draft.write": [
                // Keys and lists, which are an `OutsideFile`.
                reach, "Yard/Enrolment/EnrolmentFiles.swift",
                "Operations/Secrets/SecretFiles.swift", "Yard/Enrolment/SecretSplit.swift",
                // In the state directory, or in a file that the command line names.
                "Show/Offers/DirectoryCall.swift",
                "Operations/Fleet/FleetStartFile.swift", "Operations/Files/ReportFile.swift",
                "Site/Servers/ArtifactSupply.swift",
                // What joins a machine to a fleet, after `demandWorld`.
                "Operations/Fleet/FleetFiles.swift",
                "Operations/Bundles/BundleParts.swift", "Operations/Files/RolloutFolder.swift",
            ],
            "Draft.demand": [
                "Operations/Files/RolloutFolder.swift", "Operations/Runs/InventedDepot.swift",
                "Operations/Approvals/ApprovalCheck.swift",
                "Operations/Approvals/PlanSigning.swift",
                // Beside the manifest that the command line names, with a `RealWorld`.
                "Site/Servers/SyncErrand.swift",
            ],
            "O_CREAT": [
                "Operations/Machine/Descriptor.swift", "Operations/Bundles/BundleCopy.swift",
                "Operations/Bundles/FolderDelivery.swift", "yardmaster/FleetPruneCommand.swift",
                // New files that the command line names.
                "Yard/Beginnings/FirstRollout.swift",
            ],
        ]
        for source in try Repository.sources()
        where ["Operations", "Show", "Site", "Yard", "yardmaster"].contains(source.room) {
            for (name, known) in places where !known.contains(where: source.name.hasSuffix) {
                let call = name == "O_CREAT" ? name : name + "("
                for line in source.lines {
                    // A fake of the radio is no radio.
                    let isOther =
                        line.contains("func ") || line.contains("." + call)
                        || line.contains("Fake" + call)
                    #expect(!line.contains(call) || isOther, "\(source.name): \(line)")
                }
            }
        }
        let radio = try Repository.text("Sources/Operations/Machine/HostBluetooth.swift")
        #expect(radio.contains("context.reach.demandWorld()"))
    }

    @Test func `a file is one idea`() throws {
        for source in try Repository.sources() {
            #expect(source.lines.count <= 700, "\(source.name)")
        }
    }

    @Test func `no file knows the machine it was written on`() throws {
        let paths = ["/wo" + "rk/", "/ho" + "me/"]
        let files =
            try ["Sources", "Tests", "Fuzz"].flatMap { try Repository.sources($0) }
            + ["scripts", "docs", "manifests", ".ci"].flatMap { try Repository.texts($0) }
        #expect(files.count > 200)
        for file in files {
            for line in file.lines {
                #expect(!paths.contains { line.contains($0) }, "\(file.name): \(line)")
            }
        }
    }

    @Test func `what is public is public, and the example needs nothing else`() throws {
        for source in try Repository.sources() {
            // The library must not use `package`, because the example belongs to the same package.
            let word = source.room == "VehicleModules" ? "package " : "public "
            for line in source.lines {
                #expect(!line.drop { $0 == " " }.hasPrefix(word), "\(source.name): \(line)")
            }
        }
        let examples = try Repository.sources("Examples").filter { $0.room != "Package.swift" }
        #expect(!examples.isEmpty)
        for source in examples {
            #expect(Set(Repository.imports(source)) == ["Glibc", "VehicleModules"])
        }
    }

    @Test func `every test target runs and every fuzz folder is a target`() throws {
        let package = try Repository.text("Package.swift")
        for folder in ["Tests", "Fuzz"] {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: folder).path
            )
            for name in names where !name.hasPrefix(".") {
                // A folder of shell scripts is not a target.
                if try Repository.sources("\(folder)/\(name)").isEmpty { continue }
                #expect(package.contains("\"\(name)\""), "\(folder)/\(name)")
            }
        }
    }

    @Test(arguments: [
        "README.md", "CHANGELOG.md", "LICENSE", "BENCHMARKS.md", "docs/manifest.md",
        "docs/operations.md", "docs/images.md", "docs/protocols.md", "docs/simulation.md",
        "docs/architecture.md", "docs/trust.md", "docs/profiles.md", "docs/library.md",
        "docs/car-share.md", "docs/bluetooth.md", "docs/fleet.md", "docs/seeds.md",
    ])
    func `a document is there and its links lead somewhere`(path: String) throws {
        let text = try Repository.text(path)
        #expect(text.utf8.count > 200)
        for match in text.matches(of: /\]\(([^)#:]+)\)/) {
            let target = Repository.root.appending(path: path).deletingLastPathComponent()
                .appending(path: String(match.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(path): \(match.1)")
        }
    }
}
