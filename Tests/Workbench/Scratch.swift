import Glibc

/// A private folder for one test, removed with its last reference.
package final class Scratch: Sendable {
    package let path: String

    package init() throws {
        var name = Array("/tmp/yardmaster-test-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw FileFailure("a folder in /tmp") }
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { _ = try? run("rm", "-rf", path) }
}

/// A refusal of the system, which a test names when it ends because of it.
package struct FileFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String) {
        description = "\(what): \(String(cString: strerror(errno)))"
    }
}

/// Runs a program and returns its exit code.
@discardableResult
package func run(_ arguments: String...) throws -> Int32 {
    var pid = pid_t()
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    guard posix_spawnp(&pid, arguments[0], nil, nil, pointers, environ) == 0 else {
        throw FileFailure(arguments[0])
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status >> 8 & 0xFF
}

package func contents(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { throw FileFailure(path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &piece, piece.count)
        guard count >= 0 else { throw FileFailure(path) }
        if count == 0 { return bytes }
        bytes += piece.prefix(count)
    }
}

package func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { throw FileFailure(path) }
    defer { close(file) }
    let bytes = Array(bytes)
    guard write(file, bytes, bytes.count) == bytes.count else { throw FileFailure(path) }
}

/// The names of all files below a folder, sorted.
package func files(below path: String) -> [String] {
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
