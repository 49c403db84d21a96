import Base
import Glibc
import Manifest
import Testing

@Suite struct GrammarTests {
    private static let manual = #filePath.replacing(
        "Tests/ManifestTests/GrammarTests.swift",
        with: "docs/manifest.md"
    )

    private func readManual() throws -> String {
        String(decoding: try TextFile.read(path: Self.manual, limit: 1 << 20), as: UTF8.self)
    }

    /// With YARDMASTER_WRITE set the manual is written instead of compared.
    @Test func `the manual lists the keys of the grammar`() throws {
        let text = try readManual()
        let mark =
            "<!-- from here on made from the grammar in Sources/Manifest; a test compares -->\n"
        let start = try #require(text.firstRange(of: mark))
        let head = text[..<start.upperBound]
        let expected = head + "\n" + manifestKeyReference()
        if getenv("YARDMASTER_WRITE") != nil {
            let file = try #require(fopen(Self.manual, "w"))
            fputs(String(expected), file)
            fclose(file)
            return
        }
        #expect(text == expected, "run this test with YARDMASTER_WRITE=1 to renew docs/manifest.md")
    }

    @Test func `the manual's example is right`() throws {
        let text = try readManual()
        let opening = try #require(text.firstRange(of: "```yaml\n"))
        let rest = text[opening.upperBound...]
        let closing = try #require(rest.firstRange(of: "```"))
        let csv = try #require(text.firstRange(of: "```csv\n"))
        let table = text[csv.upperBound...]
        let end = try #require(table.firstRange(of: "```"))
        let (plan, diagnostics) = try Sample.read(
            String(rest[..<closing.lowerBound]),
            fleet: String(table[..<end.lowerBound])
        )
        #expect(diagnostics.isEmpty)
        #expect(plan?.vehicles.count == 2)
        #expect(plan?.vehicles.last?.steps.count == 2)
    }

    @Test func `the schema is JSON, always the same, and knows the keys`() throws {
        let text = manifestJSONSchema()
        #expect(text == manifestJSONSchema())
        let schema = try JSONValue(json: text)
        #expect(schema["$schema"]?.string == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["additionalProperties"]?.bool == false)
        #expect(schema["required"]?.array?.compactMap(\.string) == ["name", "vehicles"])
        let settle = schema["$defs"]?["settle"]
        #expect(settle?["properties"]?["quiet"]?["default"]?.string == "20s")
        #expect(schema["$defs"]?["step"]?["oneOf"]?.array?.count == 10)
        #expect(
            schema["$defs"]?["vehicle"]?["additionalProperties"]?["type"]?.array?.count == 3
        )
    }

    @Test func `every reference of the schema leads somewhere`() throws {
        let schema = try JSONValue(json: manifestJSONSchema())
        let names = Set(schema["$defs"]?.members?.map(\.name) ?? [])
        var found = 0
        func walk(_ value: JSONValue) {
            if let target = value["$ref"]?.string {
                found += 1
                #expect(names.contains(String(target.dropFirst("#/$defs/".count))), "\(target)")
            }
            value.members?.forEach { walk($0.value) }
            value.array?.forEach(walk)
        }
        walk(schema)
        #expect(found >= 14)
    }
}
