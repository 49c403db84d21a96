import Base
import Families
import Foundation
import Radio
import Simulation
import Testing

/// The keys of depots and profiles in the documents, given to what reads such files.
@Suite struct DocumentKeyTests {
    /// A table of keys, or of faults, with an item to which each of them may be added.
    struct Table: CustomTestStringConvertible {
        let mark: String
        let header: String
        let base: String
        var indent = "    "

        var testDescription: String { mark.isEmpty ? header : mark }
    }

    private static let keys = "| key | meaning | default |"
    private static let faults = "| fault | what happens |"
    private static let comodule =
        "name: d\nmodules:\n  - serial: \"00a0000000000001\"\n    key: \"01\"\n"
    private static let go =
        "name: d\nmodules:\n  - serial: G9\n    family: geotab-go\n    hardware-id: 7\n"
    private static func module(_ family: String, _ serial: String) -> String {
        "name: d\nmodules:\n  - serial: \(serial)\n    family: \(family)\n"
    }

    private static let depots = [
        Table(mark: "## The file", header: keys, base: "name: d\nmodules: []\n", indent: ""),
        Table(mark: "A module:", header: keys, base: comodule),
        Table(
            mark: "A lock of family",
            header: keys,
            base: module("lrdevice", "\"0a0b0c0d0e0f\"")
        ),
        Table(mark: "## GO devices", header: keys, base: go),
        Table(mark: "With `family: mcumgr`", header: keys, base: module("mcumgr", "ym-1")),
        Table(
            mark: "### What can go wrong at the host",
            header: keys,
            base: "name: d\nmodules: []\nhost:\n  strangers: 0\n",
            indent: "  "
        ),
    ]

    /// What a depot's file is read as, and its mistakes.
    private static func read(depot text: String) -> (plan: String, mistakes: [String]) {
        let diagnostics = Diagnostics()
        let tree = SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics)
        let file = tree.flatMap {
            DepotFile.read(
                $0,
                families: FamilyRegistry.simulated,
                profiles: .shipped,
                diagnostics
            )
        }
        return (String(reflecting: file), diagnostics.list.map(\.message))
    }

    /// The keys of a row, each with the default that the table gives it.
    private static func defaults(_ row: [String]) -> [(key: String, value: String)] {
        let keys = Document.words(row[0])
        guard row.count > 2 else { return [] }
        let values = row[2].replacing("`", with: "").split(separator: ", ").map(String.init)
        return keys.enumerated().compactMap { index, key in
            let value = values.count == 1 ? values[0] : values.dropFirst(index).first
            return value.map { (key, $0) }
        }
    }

    /// Words that stand for the absence of a key.
    private static let absent = [
        "required", "none", "off", "right", "forever", "the depot's", "",
    ]

    @Test(arguments: depots)
    func `a default that is written out changes nothing`(table: Table) throws {
        let rows = try Document("docs/simulation.md").table(table.header, after: table.mark)
        #expect(rows.count > 4)
        let base = Self.read(depot: table.base)
        for (key, value) in rows.flatMap(Self.defaults)
        where !Self.absent.contains(value) && !table.base.contains("\(key):") {
            // One of them is a list of what the other is.
            if key == "versions" { continue }
            let written = Self.read(depot: table.base + "\(table.indent)\(key): \(value)\n")
            #expect(written.mistakes == [], "\(key): \(value)")
            #expect(written.plan == base.plan, "\(key): \(value) is not the default")
        }
    }

    @Test(arguments: depots)
    func `a key of a depot's table is read`(table: Table) throws {
        let rows = try Document("docs/simulation.md").table(table.header, after: table.mark)
        for key in rows.flatMap({ Document.words($0[0]) }) {
            let text = table.base + "\(table.indent)\(key): {}\n"
            let mistakes = Self.read(depot: text).mistakes
            #expect(!mistakes.contains { $0.hasPrefix("unknown key `\(key)`") }, "\(key)")
        }
    }

    /// Each kind of fault of the document, in a family's words.
    private static let faulty = [
        ("Each fault has one of these keys", comodule),
        ("Its faults are `slow: TIME`", module("lrdevice", "\"0a0b0c0d0e0f\"")),
        ("| `vehicle` | `ignition`", go),
        ("## Devices of family `esp`", module("esp", "e-1")),
        ("## Devices of family `nordic`", module("nordic", "n-1")),
        ("A fault is one of `link-lost-at`", module("mcumgr", "ym-1")),
    ]

    /// The faults after a line: of the next table, or of a list in a sentence.
    private static func faults(after mark: String) throws -> [String] {
        let document = try Document("docs/simulation.md")
        let rows = document.table(faults, after: mark)
        let isTable = mark.hasPrefix("Each fault") || mark.hasPrefix("|")
        let sentence = document.lines.drop { !$0.hasPrefix(mark) }
            .drop { !$0.contains("ault") }.prefix { !$0.isEmpty }.joined(separator: " ")
        let list = sentence.firstRange(of: "aults: ").map { sentence[$0.upperBound...] }
        return isTable
            ? rows.flatMap { Document.words($0[0]) } : Document.words(list ?? sentence[...])
    }

    /// Words beside faults that are values, or how often they happen.
    private static let beside = ["true", "value", "period", "times"]

    @Test(arguments: faulty)
    func `a fault of the document can be given to a module`(mark: String, base: String) throws {
        let names = try Self.faults(after: mark).map { $0.prefix { $0 != ":" } }
            .filter { !Self.beside.contains(String($0)) }
        #expect(names.count > 8, "\(names)")
        for name in names {
            // A number of bytes, a time, a moment in a command, a characteristic.
            let values = ["true", "1", "1KiB", "1s", "challenge", "request", "\"2556\""]
            let isRead = values.contains { value in
                let text = base + "    faults: [{\(name): \(value)}]\n"
                return Self.read(depot: text).mistakes.isEmpty
            }
            #expect(isRead, "\(name)")
        }
    }

    @Test func `each key that a depot's file may have is in the document`() throws {
        let sources =
            try Self.sources("Sources/Families") {
                $0.contains("/Simulated/") && !$0.contains("/Protocols/")
            }
            + Self.sources("Sources/Simulation") { $0.contains("/Depot/") || $0.contains("/Host/") }
            + Self.sources("Sources/Simulation/Air") { $0.contains("+Depot") }
        let told = try Document("docs/simulation.md").keys
        let keys = Set(sources.flatMap(Self.keysRead))
        #expect(keys.count > 150)
        for key in keys.sorted() { #expect(told.contains(key), "`\(key)`") }
    }

    /// The text of the Swift files of a folder.
    private static func sources(
        _ folder: String,
        where isWanted: (String) -> Bool
    ) throws -> [String] {
        let base = Program.repository.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(atPath: base.path))
        return try files.compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && isWanted("/" + $0) }.sorted()
            .map { try String(contentsOf: base.appending(path: $0), encoding: .utf8) }
    }

    /// The keys that a source asks a reader for.
    private static func keysRead(_ source: String) -> [String] {
        source.matches(
            of:
                /(?:(?:reader|part|peek)\.\w+|\bversion|\bhex|\buuid)\(\s*(?:bytes: )?"([a-z0-9-]+)"/
        )
        .map { String($0.1) }
            + source.matches(of: /"([a-z0-9-]+)": (?:\.|\{ \.)\w/).map { String($0.1) }
    }

    // MARK: Profiles

    private static func text(of profile: String) throws -> String {
        let file = try #require(FamilyRegistry.profiles.first { $0.name == profile + ".yaml" })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    private static func read(profile text: String) -> (profile: Profile?, mistakes: [String]) {
        let diagnostics = Diagnostics()
        let profile = Profile.parse(Array(text.utf8), file: "profile.yaml", diagnostics)
        return (profile, diagnostics.list.map(\.message))
    }

    @Test func `a key of the table of profiles is read in some family, and each is there`() throws {
        let document = try Document("docs/profiles.md")
        let rows = document.table("| key | meaning |", after: "## Keys")
        let keys = rows.flatMap { Document.words($0[0]) }
        let profiles = try FamilyRegistry.families
            .map { try Self.text(of: "\($0.rawValue)-generic") }
        for key in keys {
            let isKnown = profiles.contains { profile in
                let lines = profile.split(separator: "\n").filter { !$0.hasPrefix("\(key):") }
                let mistakes = Self.read(profile: lines.joined(separator: "\n") + "\n\(key): x\n")
                    .mistakes
                return !mistakes.contains { $0.hasPrefix("unknown key") }
            }
            #expect(isKnown, "\(key)")
        }
        let told = document.keys
        let read = Set(
            try Self.sources("Sources/Radio/Profiles") { _ in true }.flatMap(Self.keysRead)
        )
        #expect(read.count > 40)
        for key in read.sorted() { #expect(told.contains(key), "`\(key)`") }
    }

    @Test func `the times in the table of limits are those without a profile`() throws {
        let rows = try Document("docs/profiles.md").table("| key | default | how long |")
        let base = try Self.text(of: "comodule-generic")
        let usual = UpdateLimits(settle: try #require(SettleRules()))
        var count = 0
        for row in rows {
            // Two of them depend on the protocol.
            guard !row[1].hasPrefix("by ") else { continue }
            let key = try #require(Document.words(row[0]).first)
            let (profile, mistakes) = Self.read(profile: base + "limits: {\(key): \(row[1])}\n")
            #expect(mistakes == [])
            // In a bootloader it counts only where it is named.
            var named = usual
            if key == "first-byte" { named.bootloaderOpening = usual.opening }
            #expect(profile?.times.applied(to: usual) == named, "\(key)")
            count += 1
        }
        #expect(count == 6)
    }

    @Test func `the table of services has each family's groups with their roles`() throws {
        let rows = try Document("docs/profiles.md").table(
            "| family | group | roles beside `service` |"
        )
        // A cell without a family belongs to the one above.
        var family = ""
        var groups: [String: [(group: String, isFree: Bool, roles: String)]] = [:]
        for row in rows {
            family = Document.words(row[0]).first ?? family
            for group in Document.words(row[1]) {
                groups[family, default: []]
                    .append((group, row[1].contains("may be left out"), row[2]))
            }
        }
        for shape in FamilyRegistry.shapes {
            let told = groups[shape.family.rawValue] ?? []
            #expect(
                told.map(\.group).sorted() == shape.groups.map(\.name).sorted(),
                "\(shape.family)"
            )
            for group in shape.groups {
                let row = try #require(told.first { $0.group == group.name })
                #expect(row.isFree == !group.isRequired, "\(shape.family) \(group.name)")
                let above = groups["comodule"]?.first { $0.group == group.name }?.roles ?? ""
                let roles = Document.words(row.roles == "as above" ? above : row.roles)
                for role in group.roles where group.name != "information" || row.roles != "`ota`" {
                    let isTold = roles.contains(role.role.rawValue) || row.roles.contains("`ota`")
                    #expect(isTold, "\(shape.family) \(group.name) \(role.role.rawValue)")
                }
            }
        }
    }

    @Test func `the table of profiles has those that are shipped`() throws {
        let rows = try Document("docs/profiles.md").table("| profile | what it is |")
        let told = rows.flatMap { Document.words($0[0]) }
        let shipped = ProfileLibrary.shipped.all.map { "\($0.family.rawValue)/\($0.name)" }
        #expect(told.sorted() == shipped.sorted())
    }
}
