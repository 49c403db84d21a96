import Base
import Glibc
import Images
import Testing
import Workbench

/// Transfers that are interrupted, resumed, continued from mirrors and retried.
@Suite struct ResumeTests {
    private static let file = random(300_000, seed: 31)
    private static let other = random(300_000, seed: 32)
    private static let digest = SHA256.digest(of: file)

    typealias Answer = @Sendable (HostileServer.Request, HostileServer.Connection) -> Void

    /// Announces the whole of `file` and sends only its first bytes.
    private static func cut(
        _ file: [UInt8],
        at count: Int,
        tag: String?,
        _ connection: HostileServer.Connection
    ) {
        let tags = tag.map { ["ETag: \($0)"] } ?? []
        connection.answer(
            "200 OK",
            tags + ["Content-Length: \(file.count)"],
            Array(file.prefix(count))
        )
    }

    private func bytesOnDisk(_ scratch: Scratch) -> Int {
        let part = "/images/sha256/\(Self.digest.description.prefix(2))/\(Self.digest).part"
        return (try? contents(scratch.path + part).count) ?? 0
    }

    @Test func `a cut transfer goes on where it stands, if the file is the same`() async throws {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            if request.number == 0 {
                Self.cut(Self.file, at: 120_000, tag: "\"a\"", connection)
            } else {
                connection.serve(Self.file, tag: "\"a\"", to: request)
            }
        }
        let progress = Progress()
        let result = try await fetch(
            try request(Self.digest, size: 300_000),
            from: [try web(server.url())],
            into: scratch.path,
            progress: progress
        )
        #expect(try result.get() == Self.file)
        #expect(server.seen.map(\.rangeStart) == [nil, 120_000])
        #expect(server.seen[1].header("If-Range") == "\"a\"")
        let total = ByteCount(bytes: 300_000)
        let starts = progress.all.compactMap { step -> ByteCount? in
            if case .started(_, let from, let all) = step, all == total { return from }
            return nil
        }
        #expect(starts.map(\.bytes) == [0, 120_000])
        #expect(files(below: scratch.path + "/images").count == 1)
    }

    @Test func `another process goes on where one stopped`() async throws {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            if request.number == 0 {
                Self.cut(Self.file, at: 120_000, tag: "\"a\"", connection)
            } else {
                connection.serve(Self.file, tag: "\"a\"", to: request)
            }
        }
        let first = try await fetch(
            try request(Self.digest, size: 300_000),
            from: [try web(server.url())],
            into: scratch.path,
            settings: hastySettings { $0.attempts = 1 }
        )
        guard case .download(.cut) = first.firstReason else {
            Issue.record("\(first)")
            return
        }
        #expect(bytesOnDisk(scratch) == 120_000)
        let second = try await fetch(
            try request(Self.digest, size: 300_000),
            from: [try web(server.url())],
            into: scratch.path
        )
        #expect(try second.get() == Self.file)
        #expect(server.seen.map(\.rangeStart) == [nil, 120_000])
        #expect(server.seen[1].header("If-Range") == "\"a\"")
        #expect(files(below: scratch.path + "/images").count == 1)
    }

    @Test func `a whole part needs no network`() async throws {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            Self.cut(Self.file, at: 299_999, tag: nil, connection)
        }
        _ = try await fetch(
            try request(Self.digest),
            from: [try web(server.url())],
            into: scratch.path,
            settings: hastySettings { $0.attempts = 1 }
        )
        let folder = "\(scratch.path)/images/sha256/\(Self.digest.description.prefix(2))"
        try write(Self.file, to: "\(folder)/\(Self.digest).part")
        let asked = server.seen.count
        let result = try await fetch(
            try request(Self.digest),
            from: [try web(server.url())],
            into: scratch.path
        )
        #expect(try result.get() == Self.file)
        #expect(server.seen.count == asked)
    }

    /// A server's answer to a request for the rest of a file; the file must arrive in spite of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// The first byte of each request's range.
        let ranges: [Int?]
        let answer: Answer

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "it knows no ranges", ranges: [nil, 120_000]) { _, connection in
            connection.answer("200 OK", [], file)
        },
        Row(name: "the file changed since", ranges: [nil, 120_000]) { request, connection in
            connection.serve(file, tag: "\"b\"", to: request)
        },
        Row(name: "a part from the wrong place", ranges: [nil, 120_000, nil]) {
            request,
            connection in
            guard request.rangeStart != nil else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer(
                "206 Partial Content",
                ["Content-Range: bytes 0-299999/300000"],
                file
            )
        },
        Row(name: "a part without a range", ranges: [nil, 120_000, nil]) { request, connection in
            guard request.rangeStart != nil else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer("206 Partial Content", [], Array(file[120_000...]))
        },
        Row(name: "a part as long as what is there", ranges: [nil, 120_000, nil]) {
            request,
            connection in
            guard request.rangeStart != nil else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer(
                "206 Partial Content",
                ["Content-Range: bytes 0-119999/300000"],
                Array(file[..<120_000])
            )
        },
        Row(name: "a part of a longer file", ranges: [nil, 120_000, nil]) { request, connection in
            guard request.rangeStart != nil else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer(
                "206 Partial Content",
                ["Content-Range: bytes 120000-399999/400000"],
                random(280_000, seed: 4)
            )
        },
        Row(name: "it has no such part", ranges: [nil, 120_000, nil]) { request, connection in
            guard request.rangeStart != nil else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer("416 Range Not Satisfiable", ["Content-Range: bytes */300000"])
        },
        Row(name: "the rest of another file", ranges: [nil, 120_000, nil]) { request, connection in
            guard let start = request.rangeStart else {
                connection.answer("200 OK", [], file)
                return
            }
            connection.answer(
                "206 Partial Content",
                ["Content-Range: bytes \(start)-299999/300000"],
                Array(other[start...])
            )
        },
        Row(name: "it is cut again and again", ranges: [nil, 120_000, 150_000, 180_000]) {
            request,
            connection in
            guard let start = request.rangeStart, start < 180_000 else {
                connection.serve(file, to: request)
                return
            }
            connection.answer(
                "206 Partial Content",
                [
                    "Content-Range: bytes \(start)-299999/300000",
                    "Content-Length: \(300_000 - start)",
                ],
                Array(file[start..<(start + 30_000)])
            )
        },
    ]

    @Test(arguments: rows, [false, true])
    func `whatever is said about the rest, the file is right`(
        row: Row,
        isInPlace: Bool
    ) async throws {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            if request.number == 0 {
                Self.cut(Self.file, at: 120_000, tag: "\"a\"", connection)
            } else {
                row.answer(request, connection)
            }
        }
        let result = try await fetch(
            try request(Self.digest, size: 300_000),
            from: [try web(server.url())],
            into: scratch.path,
            settings: hastySettings {
                $0.inPlaceSize = isInPlace ? ByteCount(count: 1 << 20) : .zero
            }
        )
        #expect(try result.get() == Self.file)
        #expect(server.seen.map(\.rangeStart) == row.ranges)
        #expect(files(below: scratch.path + "/images").count == 1)
    }

    @Test func `bytes of one mirror never make a wrong file with those of another`() async throws {
        let scratch = try Scratch()
        let bad = try HostileServer { _, connection in
            Self.cut(Self.other, at: 200_000, tag: nil, connection)
        }
        let good = try HostileServer { request, connection in
            connection.serve(Self.file, to: request)
        }
        let result = try await fetch(
            try request(Self.digest, size: 300_000),
            from: [try web(bad.url()), try web(good.url())],
            into: scratch.path,
            settings: hastySettings { $0.attempts = 1 }
        )
        #expect(try result.get() == Self.file)
        #expect(good.seen.map(\.rangeStart) == [200_000, nil])
    }

    @Test func `mirrors are tried in order, a file among them`() async throws {
        let scratch = try Scratch()
        let missing = try HostileServer { _, connection in connection.answer("404 Not Found") }
        let liar = try HostileServer { _, connection in
            connection.answer("200 OK", [], Self.other)
        }
        try write(Self.file, to: scratch.path + "/stick.bin")
        let progress = Progress()
        let origins = [
            try web(missing.url()), try web(liar.url()), .file(scratch.path + "/none"),
            .file(scratch.path + "/stick.bin"), try web(missing.url("/never")),
        ]
        let result = try await fetch(
            try request(Self.digest, size: 300_000),
            from: origins,
            into: scratch.path,
            progress: progress
        )
        #expect(try result.get() == Self.file)
        #expect(missing.seen.count == 1)
        #expect(liar.seen.count == 1)
        let abandoned = progress.all.compactMap { step -> Origin? in
            if case .abandoned(let origin, _) = step { return origin }
            return nil
        }
        #expect(abandoned == Array(origins.prefix(3)))
    }

    @Test func `every origin's reason is reported when none gives the image`() async throws {
        let scratch = try Scratch()
        let missing = try HostileServer { _, connection in connection.answer("404 Not Found") }
        let result = try await fetch(
            try request(Self.digest),
            from: [try web(missing.url("/a?token=hidden")), .file(scratch.path + "/none")],
            into: scratch.path
        )
        guard case .failure(.origins(let failures)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(
            failures.map(\.error) == [
                .download(.status(404, retryAfter: nil)),
                .download(.noFile(scratch.path + "/none")),
            ]
        )
        #expect(!"\(failures)".contains("hidden"))
        #expect(files(below: scratch.path).isEmpty)
    }

    @Test(arguments: [
        ("Retry-After: 7", 7.0, 8.0), ("Retry-After: 86400", 120, 121),
        ("Retry-After: Fri, 15 Jan 2027 08:00:30 GMT", 30, 31),
        ("Retry-After: soon", 0, 1), ("Retry-After: -1", 0, 1),
        ("Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", 0, 1),
    ])
    func `a server that names a time is believed up to a limit`(
        header: String,
        least: Double,
        most: Double
    ) async throws {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            if request.number == 0 {
                connection.answer("503 Service Unavailable", [header])
            } else {
                connection.serve(Self.file, to: request)
            }
        }
        let time = HastyTime()
        let result = try await fetch(
            try request(Self.digest),
            from: [try web(server.url())],
            into: scratch.path,
            time: time
        )
        #expect(try result.get() == Self.file)
        let pause = try #require(time.slept.first)
        #expect(pause > .seconds(least - 0.1) && pause < .seconds(most))
    }

    @Test(arguments: [400, 401, 403, 404, 410, 451, 501])
    func `what will not pass is asked once`(status: Int) async throws {
        let scratch = try Scratch()
        let server = try HostileServer { _, connection in connection.answer("\(status) No") }
        let result = try await fetch(
            try request(Self.digest),
            from: [try web(server.url())],
            into: scratch.path
        )
        #expect(result.firstReason == .download(.status(status, retryAfter: nil)))
        #expect(server.seen.count == 1)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `what may pass is asked a few times`(status: Int) async throws {
        let scratch = try Scratch()
        let server = try HostileServer { _, connection in connection.answer("\(status) No") }
        let result = try await fetch(
            try request(Self.digest),
            from: [try web(server.url())],
            into: scratch.path
        )
        #expect(result.firstReason == .download(.status(status, retryAfter: nil)))
        #expect(server.seen.count == 3)
    }

    @Test func `pauses are drawn up to a bound that doubles, and chance is handed in`() {
        var settings = FetchSettings()
        settings.attempts = 9
        settings.firstPause = .milliseconds(500)
        settings.longestPause = .seconds(4)
        func pauses(seed: UInt64) -> [Duration] {
            var backoff = Backoff(settings)
            var chance = SplitMix64(seed: seed)
            var pauses: [Duration] = []
            while let pause = backoff.pause(after: .cut(""), drawing: &chance) {
                pauses.append(pause)
            }
            return pauses
        }
        #expect(pauses(seed: 1).count == 8)
        #expect(pauses(seed: 1) == pauses(seed: 1))
        #expect(pauses(seed: 1) != pauses(seed: 2))
        for seed in 0..<200 as Range<UInt64> {
            for (index, pause) in pauses(seed: seed).enumerated() {
                let bound = min(.milliseconds(500) * (1 << index), Duration.seconds(4))
                #expect(pause >= .zero && pause < bound)
            }
        }
        var backoff = Backoff(settings)
        var chance = SplitMix64(seed: 1)
        #expect(backoff.pause(after: .tls("no"), drawing: &chance) == nil)
    }

    @Test func `a cancelled fetch ends at once and keeps what it has`() async throws {
        let scratch = try Scratch()
        let server = try HostileServer { _, connection in
            Self.cut(Self.file, at: 1, tag: nil, connection)
        }
        let stalling = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
            connection.send(Array(Self.file.prefix(100_000)))
            connection.waitForGoodbye()
        }
        _ = server
        let result = try await withFetcher(scratch.path) { fetcher in
            await withTaskGroup(of: FetchError?.self) { group in
                let (bytes, sender) = AsyncStream<Int>.makeStream()
                group.addTask {
                    do throws(FetchError) {
                        _ = try await fetcher.image(
                            try! request(Self.digest, size: 300_000),
                            from: [try! web(stalling.url())]
                        ) { progress in
                            if case .received(let count, _) = progress { sender.yield(count.bytes) }
                        }
                        return nil
                    } catch { return error }
                }
                for await count in bytes where count == 100_000 { break }
                group.cancelAll()
                return await group.next() ?? nil
            }
        }
        #expect(result == .cancelled)
        #expect(bytesOnDisk(scratch) == 100_000)
    }

    @Test func `a document is whole or an error, with no redirect and no byte too many`()
        async throws
    {
        let scratch = try Scratch()
        let server = try HostileServer { request, connection in
            switch request.path {
            case "/good": connection.answer("200 OK", [], [1, 2, 3])
            case "/long": connection.answer("200 OK", [], [UInt8](repeating: 7, count: 101))
            case "/endless":
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while connection.send("10\r\n0123456789ABCDEF\r\n") {}
            case "/moved": connection.answer("302 Found", ["Location: /good"])
            case "/later" where request.number == 4: connection.answer("503 Later")
            case "/later": connection.answer("200 OK", [], [9])
            default: connection.answer("404 Not Found")
            }
        }
        let limit = try #require(ByteCount(bytes: 100))
        try await withFetcher(scratch.path) { fetcher in
            func document(_ path: String) async throws -> Result<[UInt8], DownloadError> {
                let origin = try web(server.url(path))
                do throws(DownloadError) {
                    return .success(
                        try await fetcher.document(at: origin, limit: limit, within: .seconds(20))
                    )
                } catch { return .failure(error) }
            }
            #expect(try await document("/good") == .success([1, 2, 3]))
            #expect(try await document("/long") == .failure(.tooLong(limit: limit)))
            #expect(try await document("/endless") == .failure(.tooLong(limit: limit)))
            #expect(try await document("/moved") == .failure(.redirected))
            #expect(try await document("/later") == .success([9]))
            let none = try await document("/none")
            #expect(none == .failure(.status(404, retryAfter: nil)))
            guard case .failure(let error) = none else { return }
            #expect(error.isAbsence)
        }
        try write([1, 2, 3], to: scratch.path + "/doc")
        try await withFetcher(scratch.path) { fetcher in
            let path = scratch.path + "/doc"
            let bytes = try await fetcher.document(
                at: .file(path),
                limit: limit,
                within: .seconds(1)
            )
            #expect(bytes == [1, 2, 3])
        }
    }

    /// A server that sends one further byte for each request, and serves the file from the ninth
    /// request on.
    private func stingy(holds: Bool) throws -> HostileServer {
        let file = Self.file
        return try HostileServer { request, connection in
            guard request.number < 8 else {
                connection.serve(file, tag: "\"a\"", to: request)
                return
            }
            let start = request.rangeStart ?? 0
            let head =
                start == 0
                ? "200 OK\r\nContent-Length: \(file.count)"
                : "206 Partial Content\r\nContent-Length: \(file.count - start)\r\n"
                    + "Content-Range: bytes \(start)-\(file.count - 1)/\(file.count)"
            connection.send("HTTP/1.1 \(head)\r\nETag: \"a\"\r\n\r\n")
            connection.send([file[start]])
            if holds { connection.waitForGoodbye() }
        }
    }

    @Test(arguments: [true, false])
    func `one byte now and then does not hold a fetch`(holds: Bool) async throws {
        let server = try stingy(holds: holds)
        let scratch = try Scratch()
        let result = try await fetch(
            try request(Self.digest, size: Self.file.count),
            from: [try web(server.url())],
            into: scratch.path,
            settings: impatientSettings()
        )
        // The same number of attempts as for a server that sends nothing at all.
        #expect(server.seen.count == 3)
        switch result.firstReason {
        case .download(.tooSlow(let words)):
            #expect(holds)
            #expect(words.contains("2000 bytes a second"), "\(words)")
        case .download(.cut): #expect(!holds)
        default: Issue.record("\(result)")
        }
    }
}
