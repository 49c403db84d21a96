import Foundation
import Testing

/// Package.swift and the imports agree.
@Suite struct PackageTests {
    private struct Target {
        let name: String
        let folder: String
        let dependencies: Set<String>
    }

    /// The targets in Package.swift, read line by line: the file uses only one form.
    private func targets() throws -> [Target] {
        let package = try Repository.text("Package.swift")
            .replacing(/\/\/[^\n]*/, with: "").replacing(/\s+/, with: " ")
        let short = package.matches(
            of: /\b(room|adapter|tests)\( ?"(\w+)"(?:, ?\[([^\]]*)\])?/
        ).map { match in
            Target(
                name: String(match.2),
                folder: "\(match.1 == "tests" ? "Tests" : "Sources")/\(match.2)",
                dependencies: names(match.3 ?? "")
            )
        }
        let long = package.matches(
            of: /arget\( ?name: "(\w+)", dependencies: \[([^\]]*)\],(?: path: "([^"]*)")?/
        ).map { match in
            Target(
                name: String(match.1),
                folder: match.3.map(String.init) ?? "Sources/\(match.1)",
                dependencies: names(match.2)
            )
        }
        let examples = package.matches(of: /\bexample\( ?"(\w+)"/).map { match in
            Target(
                name: String(match.1),
                folder: "Examples/\(match.1)",
                dependencies: ["VehicleModules"]
            )
        }
        return (short + long + examples).sorted { $0.name < $1.name }
    }

    private func names(_ list: Substring) -> Set<String> {
        Set(list.matches(of: /"(\w+)"/).map { String($0.1) })
    }

    @Test func `every room and every test target is listed`() throws {
        let listed = try Set(targets().map(\.folder))
        let isSwift = try Set(Repository.sources().map { "Sources/\($0.room)" })
        // SwiftPM looks for the main file of the tests in this place.
        let isTested = try Set(Repository.sources("Tests").map { "Tests/\($0.room)" })
            .subtracting(["Tests/LinuxMain.swift"])
        let isShown = try Set(Repository.folders("Examples").map { "Examples/\($0)" })
        let all = isSwift.union(isTested).union(isShown).union(["Fuzz"])
        #expect(all.subtracting(listed).sorted() == [])
        #expect(listed.subtracting(all).sorted() == [])
    }

    @Test func `a target imports what it declares and declares what it imports`() throws {
        let all = try targets()
        let shims = try Repository.folders("Sources").filter {
            $0.hasPrefix("C") && $0 != "Commands"
        }
        let ours = Set(all.map(\.name)).union(shims + ["CFuzzer"])
        #expect(shims.contains("CLinux"))
        let tops = Set(all.map { String($0.folder.prefix { $0 != "/" }) })
        let sources = try tops.reduce(into: [:]) {
            $0[$1] = Dictionary(grouping: try Repository.sources($1), by: \.room)
        }
        for target in all {
            let parts = target.folder.split(separator: "/").map(String.init)
            let files = parts.count > 1 ? [parts[1]] : sources[parts[0], default: [:]].map(\.key)
            let imported = files.flatMap { sources[parts[0]]?[$0] ?? [] }
                .reduce(into: Set<String>()) { $0.formUnion(Repository.imports($1)) }
                .intersection(ours)
            #expect(
                imported.subtracting(target.dependencies).sorted() == [],
                "\(target.name) imports these without declaring them"
            )
            // A test target may depend on programs in order to start them.
            let unused = target.dependencies.subtracting(imported)
                .subtracting([
                    "yardmaster", "ScanAndRead", "SetLights", "UnlockVehicle", "UpdateModule",
                    "FollowModule", "OwnFamily", "SeedTour", "UseLock",
                ])
            #expect(unused.sorted() == [], "\(target.name) declares these without an import")
        }
    }

    @Test func `the document of the library names the packages that it needs, and no others`()
        throws
    {
        let all = try targets()
        var (needed, rest): (Set<String>, Set<String>) = ([], ["VehicleModules"])
        while let name = rest.popFirst() {
            guard needed.insert(name).inserted else { continue }
            rest.formUnion(all.first { $0.name == name }?.dependencies ?? [])
        }
        let document = try Repository.text("docs/library.md")
        let systems = try Repository.text("Package.swift")
            .matches(of: /system\("(\w+)", "[^"]+", apt: "([^"]+)"\)/)
        #expect(systems.count >= 5)
        for system in systems {
            let isNamed = document.contains("`\(system.2)`")
            #expect(isNamed == needed.contains(String(system.1)), "\(system.2)")
        }
    }
}
