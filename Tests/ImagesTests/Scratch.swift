import Base
import Images
import Testing
import Workbench

func fixture(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    return try contents("/\(folder)/Fixtures/\(name)")
}

func random(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
}

/// Calls `body` with a store on its own thread.
func withStore<R>(
    _ directory: String,
    _ body: (ImageStore) async throws -> R
) async throws -> R {
    let executor = try ThreadExecutor.start(name: "images")
    defer { executor.stop() }
    return try await body(ImageStore(stateDirectory: directory, executor: executor))
}

func request(
    _ digest: SHA256Digest,
    size: Int? = nil,
    limit: Int? = nil
) throws -> ImageRequest {
    try #require(
        ImageRequest(
            name: "city",
            digest: digest,
            size: size.flatMap { ByteCount(bytes: $0) },
            limit: limit.flatMap { ByteCount(bytes: $0) }
        )
    )
}
