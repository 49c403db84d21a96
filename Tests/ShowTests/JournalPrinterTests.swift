import Base
import Show
import Store
import Testing

/// Records for systemd's journal.
@Suite struct JournalPrinterTests {
    private func records() throws -> [String] {
        var printer = JournalPrinter()
        return try Sample.full().compactMap { printer.record($0) }
    }

    @Test func `a run is told in records`() throws {
        try Golden.expect(try records().joined(separator: "\n"), equals: "journal.txt")
    }

    @Test func `every record is lines of a name and a value, the names as the journal wants them`()
        throws
    {
        for record in try records() {
            #expect(record.hasSuffix("\n"))
            var names: [Substring] = []
            for line in record.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let equals = try #require(line.firstIndex(of: "="))
                names.append(line[..<equals])
            }
            #expect(Set(names).count == names.count)
            #expect(names.first == "MESSAGE")
            #expect(
                names.allSatisfy { name in
                    name.first?.isUppercase == true && name.utf8.count <= 64
                        && name.allSatisfy { $0 == "_" || $0.isUppercase || $0.isNumber }
                }
            )
            #expect(names.contains("MESSAGE_ID"))
            #expect(names.contains("YARDMASTER_ROLLOUT"))
        }
    }

    @Test func `every kind has a number of its own`() throws {
        var kinds = Set(try Sample.full().map(\.body.kind))
        for kind in Notice.Kind.allCases { kinds.insert(kind.rawValue) }
        kinds.insert("step-ended")
        #expect(kinds.count == 22)
        let numbers = kinds.compactMap { JournalMessage.id(of: $0) }
        #expect(Set(numbers).count == 22)
        #expect(
            numbers.allSatisfy { number in
                number.utf8.count == 32 && number.allSatisfy(\.isHexDigit)
            }
        )
        #expect(
            JournalMessage.id(of: "vehicle-ended") == "5b0c1b8e4f6d4a52b7a1c93de27f000b"
        )
        #expect(JournalMessage.id(of: "dream") == nil)
    }

    @Test func `what is wrong has a level that says so`() throws {
        let levels = try Sample.full().map { ($0.body.kind, $0.body.priority) }
        #expect(levels.filter { $0.0 == "vehicle-ended" }.map(\.1) == [4, 6, 3, 4])
        #expect(levels.last?.1 == 3)
        #expect(levels.first { $0.0 == "warning" }?.1 == 4)
    }

    @Test func `a message without end is cut`() {
        var printer = JournalPrinter()
        let event = Event(
            number: 1,
            time: Sample.start,
            body: .warning(String(repeating: "ü\u{1}", count: 100_000))
        )
        let record = printer.record(event) ?? ""
        #expect(record.utf8.count < 32_768)
        #expect(record.contains("…\nPRIORITY=4\n"))
    }
}
