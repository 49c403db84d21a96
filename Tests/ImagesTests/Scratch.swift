import Domain
import Glibc
import Images
import Testing
import Threads

/// A folder of its own for one test, removed with its last reference.
final class Scratch: Sendable {
    let path: String

    init() throws {
        var name = Array("/tmp/yardmaster-images-XXXXXX".utf8CString)
        path = String(cString: try #require(mkdtemp(&name)))
    }

    deinit { _ = try? run("rm", "-rf", path) }
}

/// Runs a program and returns its exit code.
@discardableResult
func run(_ arguments: String...) throws -> Int32 {
    var pid = pid_t()
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    try #require(posix_spawnp(&pid, arguments[0], nil, nil, pointers, environ) == 0)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status >> 8 & 0xFF
}

func contents(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &piece, piece.count)
        if count <= 0 { return bytes }
        bytes += piece.prefix(count)
    }
}

func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    let bytes = Array(bytes)
    try #require(write(file, bytes, bytes.count) == bytes.count)
}

/// The names of all files below a folder, sorted.
func files(below path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name == "." || name == ".." { continue }
        if entry.pointee.d_type == UInt8(DT_DIR) {
            found += files(below: path + "/" + name).map { name + "/" + $0 }
        } else {
            found.append(name)
        }
    }
    return found.sorted()
}

func fixture(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    return try contents("/\(folder)/Fixtures/\(name)")
}

func random(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
}

/// Lends a store on a thread of its own.
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
