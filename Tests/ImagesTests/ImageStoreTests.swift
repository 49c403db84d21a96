import Base
import Glibc
import Images
import Synchronization
import Testing
import Workbench

@Suite struct ImageStoreTests {
    private let bytes = random(300_000, seed: 7)
    private var digest: SHA256Digest { SHA256.digest(of: bytes) }

    /// Delivers bytes from memory and counts the deliveries; `before` runs before each piece.
    private final class Memory: ImageReading {
        let bytes: [UInt8]
        let deliveries = Atomic(0)
        let before: @Sendable (Int) throws(ImageError) -> Void

        init(
            _ bytes: [UInt8],
            before: @escaping @Sendable (Int) throws(ImageError) -> Void = { _ in }
        ) {
            self.bytes = bytes
            self.before = before
        }

        func deliver(to sink: inout ImageSink) throws(ImageError) {
            deliveries.add(1, ordering: .relaxed)
            for start in stride(from: 0, to: bytes.count, by: 1_000) {
                try before(start)
                let piece = Array(bytes[start...].prefix(1_000))
                try sink.take(piece.span)
            }
        }
    }

    /// The error of acquiring an image from a file; nil when there is none.
    private func error(
        _ request: ImageRequest,
        from path: String,
        in directory: String
    ) async throws -> ImageError? {
        try await withStore(directory) { store in
            do throws(ImageError) {
                _ = try await store.acquire(request, from: LocalFile(path: path))
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `an image is kept read-only under its digest and read back`() async throws {
        let scratch = try Scratch()
        let source = scratch.path + "/city.bin"
        try write(bytes, to: source)
        let image = try await withStore(scratch.path) { store in
            try await store.acquire(
                try request(digest, size: 300_000),
                from: LocalFile(path: source)
            )
        }
        let hex = digest.description
        #expect(image.path == "\(scratch.path)/images/sha256/\(hex.prefix(2))/\(hex)")
        #expect(image.name == "city")
        #expect(image.size == ByteCount(bytes: 300_000))
        #expect(image.digest == digest)
        #expect(try image.bytes() == bytes)
        var status = stat()
        #expect(stat(image.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o444)
        #expect(files(below: scratch.path + "/images") == ["sha256/\(hex.prefix(2))/\(hex)"])
    }

    @Test func `what is there is not fetched again`() async throws {
        let scratch = try Scratch()
        let source = Memory(bytes)
        try await withStore(scratch.path) { store in
            for _ in 0..<3 { _ = try await store.acquire(try request(digest), from: source) }
        }
        #expect(source.deliveries.load(ordering: .relaxed) == 1)
        let gone = LocalFile(path: scratch.path + "/gone")
        let image = try await withStore(scratch.path) { store in
            try await store.acquire(try request(digest), from: gone)
        }
        #expect(try image.bytes() == bytes)
    }

    @Test func `an empty image is an image`() async throws {
        let scratch = try Scratch()
        let image = try await withStore(scratch.path) { store in
            try await store.acquire(try request(SHA256.digest(of: [])), from: Memory([]))
        }
        #expect(try image.bytes() == [])
    }

    @Test func `a wrong digest is reported with both, and nothing is kept`() async throws {
        let scratch = try Scratch()
        let source = scratch.path + "/city.bin"
        try write(bytes + [0], to: source)
        let found = try await error(try request(digest), from: source, in: scratch.path)
        #expect(
            found == .wrongDigest(expected: digest, actual: SHA256.digest(of: bytes + [0]))
        )
        #expect(files(below: scratch.path + "/images").isEmpty)
    }

    @Test func `a wrong size is reported before the digest is`() async throws {
        let scratch = try Scratch()
        let source = scratch.path + "/city.bin"
        try write(bytes, to: source)
        let many = try #require(ByteCount(bytes: 300_000))
        for (size, expected) in [
            (299_999, ImageError.tooLong(expected: try #require(ByteCount(bytes: 299_999)))),
            (
                300_001,
                .wrongSize(expected: try #require(ByteCount(bytes: 300_001)), actual: many)
            ),
        ] {
            let found = try await error(
                try request(digest, size: size),
                from: source,
                in: scratch.path
            )
            #expect(found == expected)
        }
        #expect(files(below: scratch.path + "/images").isEmpty)
        // The size is also checked for an image that is already in the store.
        #expect(try await error(try request(digest), from: source, in: scratch.path) == nil)
        let found = try await error(try request(digest, size: 1), from: source, in: scratch.path)
        #expect(
            found == .wrongSize(expected: try #require(ByteCount(bytes: 1)), actual: many)
        )
    }

    @Test func `a source that never ends is stopped at the limit`() async throws {
        let scratch = try Scratch()
        let limit = try #require(ByteCount(bytes: 100_000))
        let found = try await error(
            try request(digest, limit: 100_000),
            from: "/dev/null",
            in: scratch.path
        )
        #expect(found == .notAFile("/dev/null"))
        let endless = Memory([UInt8](repeating: 1, count: 1 << 20))
        let error = try await withStore(scratch.path) { store in
            await #expect(throws: ImageError.self) {
                try await store.acquire(try request(digest, limit: 100_000), from: endless)
            }
        }
        #expect(error == .tooLarge(limit: limit))
        #expect(files(below: scratch.path + "/images").isEmpty)
    }

    @Test(arguments: [((1 << 30) + 1, nil), (nil, (1 << 30) + 1), (11, 10)] as [(Int?, Int?)])
    func `nothing beyond the limit can be asked for`(size: Int?, limit: Int?) throws {
        #expect(
            ImageRequest(
                name: "city",
                digest: digest,
                size: size.flatMap { ByteCount(bytes: $0) },
                limit: limit.flatMap { ByteCount(bytes: $0) }
            ) == nil
        )
    }

    @Test func `what is no readable file is refused by kind`() async throws {
        let scratch = try Scratch()
        let path = scratch.path
        mkfifo(path + "/pipe", 0o600)
        symlink(path + "/pipe", path + "/link")
        try write([1], to: path + "/file")
        for (source, expected) in [
            (path + "/none", ImageError.missing(path + "/none")),
            (path + "/file/below", .missing(path + "/file/below")),
            (path, .isDirectory(path)),
            (path + "/pipe", .notAFile(path + "/pipe")),
            (path + "/link", .notAFile(path + "/link")),
            ("/dev/zero", .notAFile("/dev/zero")),
        ] {
            #expect(try await error(try request(digest), from: source, in: path) == expected)
        }
        #expect(files(below: path + "/images").isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become somebody who may not"))
    func `a file that we may not read is reported`() async throws {
        let scratch = try Scratch()
        try write([1], to: scratch.path + "/secret")
        chmod(scratch.path, 0o777)
        chmod(scratch.path + "/secret", 0o600)
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            try #require(setuid(65_534) == 0)
            try await withStore(path) { store in
                let error = await #expect(throws: ImageError.self) {
                    try await store.acquire(
                        try request(SHA256.digest(of: [1])),
                        from: LocalFile(path: path + "/secret")
                    )
                }
                #expect(error == .notPermitted(path + "/secret"))
            }
        }
    }

    @Test func `a stored image that was changed is never handed out`() async throws {
        let scratch = try Scratch()
        try await withStore(scratch.path) { store in
            let source = Memory(bytes)
            let image = try await store.acquire(try request(digest), from: source)
            for damaged in [Array(bytes.dropLast()), bytes + [0], bytes.reversed(), []] {
                chmod(image.path, 0o644)
                try write(damaged, to: image.path)
                #expect(throws: ImageError.damaged(image.path)) { try image.bytes() }
                #expect(try await store.acquire(try request(digest), from: source) == image)
                #expect(try image.bytes() == bytes)
            }
            #expect(source.deliveries.load(ordering: .relaxed) == 5)
            unlink(image.path)
            #expect(throws: ImageError.missing(image.path)) { try image.bytes() }
            symlink("/etc/passwd", image.path)
            #expect(throws: ImageError.self) { try image.bytes() }
        }
    }

    @Test func `a source that fails leaves nothing, and may be tried again`() async throws {
        let scratch = try Scratch()
        try await withStore(scratch.path) { store in
            let failing = Memory(bytes) { start throws(ImageError) in
                if start > 100_000 { throw .cannotRead("far away", code: EIO) }
            }
            let error = await #expect(throws: ImageError.self) {
                try await store.acquire(try request(digest), from: failing)
            }
            #expect(error == .cannotRead("far away", code: EIO))
            #expect(files(below: scratch.path + "/images").isEmpty)
            let image = try await store.acquire(try request(digest), from: Memory(bytes))
            #expect(try image.bytes() == bytes)
        }
    }

    @Test func `a cancelled task stops in the middle`() async throws {
        let scratch = try Scratch()
        let error = try await withStore(scratch.path) { store in
            await withTaskGroup(of: ImageError?.self) { [digest, bytes] group in
                group.addTask {
                    do {
                        let source = Memory(bytes) { start in
                            if start == 10_000 { withUnsafeCurrentTask { $0?.cancel() } }
                        }
                        _ = try await store.acquire(try request(digest), from: source)
                        return nil
                    } catch {
                        return error as? ImageError
                    }
                }
                return await group.next() ?? nil
            }
        }
        #expect(error == .cancelled)
        #expect(files(below: scratch.path + "/images").isEmpty)
    }

    @Test func `many who want one image at once copy it once`() async throws {
        let scratch = try Scratch()
        let source = Memory(bytes)
        try await withThrowingTaskGroup(of: StoredImage.self) { [digest] group in
            // Each task locks its own open file, so the tasks behave like as many processes.
            for _ in 0..<8 {
                group.addTask {
                    try await withStore(scratch.path) { store in
                        try await store.acquire(try request(digest), from: source)
                    }
                }
            }
            for try await image in group { #expect(image.digest == digest) }
        }
        #expect(source.deliveries.load(ordering: .relaxed) == 1)
    }

    @Test func `when the first one fails the next one in line takes over`() async throws {
        let scratch = try Scratch()
        let tries = Mutex(0)
        let source = Memory(bytes) { start throws(ImageError) in
            guard start == 0 else { return }
            let nth = tries.withLock { tries in
                tries += 1
                return tries
            }
            if nth < 4 { throw .cannotRead("shaky", code: EIO) }
        }
        let done = await withTaskGroup(of: Bool.self) { [digest] group in
            for _ in 0..<8 {
                group.addTask {
                    let image = try? await withStore(scratch.path) { store in
                        try await store.acquire(try request(digest), from: source)
                    }
                    return image != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(done == 5)
        #expect(source.deliveries.load(ordering: .relaxed) == 4)
        #expect(files(below: scratch.path + "/images").count == 1)
    }

    @Test func `a process killed in mid-copy leaves no image, and the next one makes it`()
        async throws
    {
        let folder = "/tmp/yardmaster-images-killed-\(getpid())"
        mkdir(folder, 0o700)
        defer { _ = try? run("rm", "-rf", folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            let bytes = random(300_000, seed: 7)
            let source = Memory(bytes) { start in
                if start == 200_000 { kill(getpid(), SIGKILL) }
            }
            try await withStore(folder) { store in
                let digest = SHA256.digest(of: bytes)
                _ = try await store.acquire(try request(digest), from: source)
            }
        }
        let left = files(below: folder + "/images")
        #expect(left.count == 1)
        #expect(left.first?.hasSuffix(".part") == true)
        let image = try await withStore(folder) { store in
            try await store.acquire(try request(digest), from: Memory(bytes))
        }
        #expect(try image.bytes() == bytes)
        #expect(files(below: folder + "/images").count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func `a full and a read-only disk are distinguished`() async throws {
        let scratch = try Scratch()
        try write(bytes, to: scratch.path + "/city.bin")
        let small = scratch.path + "/small"
        mkdir(small, 0o700)
        try #require(try run("mount", "-t", "tmpfs", "-o", "size=128k", "none", small) == 0)
        defer { _ = try? run("umount", "-l", small) }
        let source = scratch.path + "/city.bin"
        guard case .full = try await error(try request(digest), from: source, in: small) else {
            Issue.record("the disk was not full")
            return
        }
        #expect(files(below: small).isEmpty)
        try #require(try run("mount", "-o", "remount,ro", small) == 0)
        guard case .readOnly = try await error(try request(digest), from: source, in: small) else {
            Issue.record("the disk was not read-only")
            return
        }
    }
}
