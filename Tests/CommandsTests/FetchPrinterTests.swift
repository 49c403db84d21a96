import Base
import Images
import Operations
import Testing

/// The output for people while images are downloaded.
@Suite struct FetchPrinterTests {
    private static let start = Moment(nanoseconds: 0)
    private static let total = ByteCount(bytes: 4 << 20)

    private static func origin() throws -> Origin {
        .web(try #require(WebAddress("https://images.example/a?token=hidden")))
    }

    private static func printer(isLive: Bool, tellsLocalFiles: Bool = true) -> FetchPrinter {
        FetchPrinter(
            [
                FetchPrinter.Row(name: "city", size: total),
                FetchPrinter.Row(name: "cargo", size: total),
            ],
            isLive: isLive,
            isUnicode: false,
            tellsLocalFiles: tellsLocalFiles
        )
    }

    private static func at(_ seconds: Int) -> Moment { start.advanced(by: .seconds(seconds)) }

    @Test func `a log gets a line for each thing that happens, and few for progress`() throws {
        var printer = Self.printer(isLive: false)
        let origin = try Self.origin()
        let total = try #require(Self.total)
        let mebibyte = try #require(ByteCount(bytes: 1 << 20))
        func take(_ progress: FetchProgress, _ seconds: Int) -> String {
            printer.take(progress, of: 0, at: Self.at(seconds))
        }
        #expect(
            take(.started(origin, from: mebibyte, total: total), 0)
                == "city: from https://images.example/a?…, 4 MiB, going on at 1 MiB\n"
        )
        let twice = try #require(ByteCount(bytes: 2 << 20))
        #expect(take(.received(twice, of: total), 5).isEmpty)
        #expect(
            take(.received(twice, of: total), 10)
                == "city: 50%  2 MiB of 4 MiB  102.4 KiB/s  20s left\n"
        )
        #expect(take(.received(twice, of: total), 11).isEmpty)
        #expect(
            take(.retry(origin, after: .seconds(2), because: .cut("gone")), 12)
                == "city: https://images.example/a?…: the transfer was cut: gone; again in 2s\n"
        )
        #expect(
            take(.waitingFor(process: 17), 12)
                == "city: process 17 fetches it already, waiting for that\n"
        )
        #expect(take(.stored(total), 20) == "city: in the store, 4 MiB, 153.6 KiB/s\n")
        #expect(printer.draw(width: 80, at: Self.at(20)).isEmpty)
        #expect(printer.end().isEmpty)
    }

    @Test func `a terminal gets a line for each image under way and one for all`() throws {
        var printer = Self.printer(isLive: true)
        let origin = try Self.origin()
        let total = try #require(Self.total)
        let half = try #require(ByteCount(bytes: 2 << 20))
        _ = printer.take(.started(origin, from: .zero, total: total), of: 0, at: Self.at(0))
        #expect(printer.take(.received(half, of: total), of: 0, at: Self.at(1)).isEmpty)
        let first = printer.draw(width: 80, at: Self.at(1))
        #expect(first.hasPrefix("city  [###"))
        #expect(
            first.contains(
                "] 50%  2 MiB of 4 MiB  2 MiB/s  1s left\n0 of 2 images  25%  2 MiB of 8 MiB"
            )
        )
        let second = printer.draw(width: 80, at: Self.at(1))
        #expect(second.hasPrefix("\u{1B}[2A\r\u{1B}[J"))
        for width in 0..<200 {
            let lines = printer.draw(width: width, at: Self.at(1)).split(separator: "\n")
            #expect(lines.dropFirst().allSatisfy { $0.count < max(1, width) })
        }
        // A permanent line replaces the drawn lines.
        let stored = printer.take(.stored(total), of: 0, at: Self.at(2))
        #expect(stored.hasPrefix("\u{1B}["))
        #expect(stored.hasSuffix("city: in the store, 4 MiB, 2 MiB/s\n"))
        #expect(printer.end().isEmpty)
    }

    @Test func `a run says nothing of images that it copies from this machine`() throws {
        var printer = Self.printer(isLive: false, tellsLocalFiles: false)
        let total = try #require(Self.total)
        for progress in [
            .started(.file("/a"), from: .zero, total: total), .received(total, of: total),
            .stored(total),
        ] as [FetchProgress] {
            #expect(printer.take(progress, of: 0, at: Self.at(60)).isEmpty)
        }
    }

    @Test func `nothing that a server says steers the terminal`() throws {
        var printer = Self.printer(isLive: false)
        let text = printer.take(
            .abandoned(try Self.origin(), because: .download(.badAnswer("\u{1B}[2J\r\nforged"))),
            of: 0,
            at: Self.at(0)
        )
        #expect(!text.dropLast().contains { $0.isNewline || $0 == "\u{1B}" })
    }
}
