import Base
import CLinux
import Glibc

/// The last steps that put an image into the store; they wait for the disk.
///
/// In this order: bytes on disk, name, name on disk.
struct Publication: Sendable {
    let store: StoreFolder
    let digest: SHA256Digest
    let descriptor: Int32
    let count: Int
    /// Whether there may be a note of its origin.
    let mayHaveNote: Bool

    /// Performs the steps; returns the image's path.
    func perform() throws(ImageError) -> String {
        let name = store.path(of: digest)
        do throws(FileFault) {
            // A part that was once longer would keep its old end.
            if length != count { try store.files.truncate(descriptor, to: count) }
            try store.files.seal(descriptor)
            try store.files.sync(descriptor)
            // Before the name: a complete part needs no note, and beside an image it would be a
            // leftover.
            if mayHaveNote { try? store.files.remove(store.notePath(of: digest)) }
            try store.files.rename(store.partPath(of: digest), to: name)
            try store.files.syncFolder(store.folder(of: digest))
        } catch { throw .writing(name, error.code) }
        return name
    }

    /// Nil when the system does not report it.
    private var length: Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }
}

/// A few threads that wait for the disk, so that no other thread does.
///
/// A file system writes its journal once for all that wait at the same time: eight at the same time
/// take hardly longer than one.
final class Publishers: Sendable {
    static let count = 8

    private actor Publisher {
        nonisolated let executor: ThreadExecutor

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        init(executor: ThreadExecutor) { self.executor = executor }

        func perform(_ publication: Publication) -> Result<String, ImageError> {
            do throws(ImageError) { return .success(try publication.perform()) } catch {
                return .failure(error)
            }
        }
    }

    private let publishers: [Publisher]

    init() throws(ThreadError) {
        var publishers: [Publisher] = []
        for _ in 0..<Self.count {
            do throws(ThreadError) {
                publishers.append(Publisher(executor: try ThreadExecutor.start(name: "store")))
            } catch {
                for publisher in publishers { publisher.executor.stop() }
                throw error
            }
        }
        self.publishers = publishers
    }

    func perform(_ publication: Publication, turn: Int) async -> Result<String, ImageError> {
        await publishers[turn % Self.count].perform(publication)
    }

    /// To be called once, when there is no more work.
    func stop() {
        for publisher in publishers { publisher.executor.stop() }
    }
}
