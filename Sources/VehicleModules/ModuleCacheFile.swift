import Base
import Glibc
import Radio

/// A file with what the cache knows about modules, for this program and others.
///
/// A thread of its own writes it. Each write takes only what this program has just learned into the
/// file as it is then, so that several programs can have the same file. What is wrong with the file
/// is told, and never stops the program.
final class ModuleCacheFile: Sendable {
    private enum Order: Sendable {
        case add(CachedModule, Serial)
        case clear
    }

    private struct State: Sendable {
        var orders: [Order] = []
        var isEnding = false
        /// Why the file was not used; told once.
        var told: String?
    }

    /// How often the lock is tried, each ten milliseconds: another program has it for one write.
    private static let tries = 100

    /// What was in the file at the beginning.
    let modules: ModuleCacheDocument.Modules
    private let path: String
    private let tell: @Sendable (String) -> Void
    private let state = Monitor(State())

    /// Reads the file; `tell` gets a sentence about each reason not to use it.
    init(path: String, tell: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.tell = tell
        var trouble: String?
        do throws(Trouble) { modules = try Self.read(path) } catch {
            modules = []
            trouble = error.sentence
        }
        say(trouble)
    }

    /// Writes what it gets while `body` runs; returns when all of it is written.
    func whileWriting<R>(_ body: () async -> R) async -> R {
        let thread: pthread_t
        switch NativeThread.start(name: "module cache", { self.work() }) {
        case .success(let started): thread = started
        case .failure(let error):
            state.withLock { $0.isEnding = true }
            say(error.description)
            return await body()
        }
        let result = await body()
        state.change { $0.isEnding = true }
        pthread_join(thread, nil)
        return result
    }

    func add(_ module: CachedModule, as serial: Serial) { order(.add(module, serial)) }

    func clear() { order(.clear) }

    private func order(_ order: Order) {
        state.change { if !$0.isEnding { $0.orders.append(order) } }
    }

    private func work() {
        while true {
            let (orders, isLast) = state.wait { state -> ([Order], Bool)? in
                guard !state.orders.isEmpty || state.isEnding else { return nil }
                defer { state.orders = [] }
                return (state.orders, state.isEnding)
            }
            if !orders.isEmpty {
                var trouble: String?
                do throws(Trouble) { try write(orders) } catch { trouble = error.sentence }
                say(trouble)
            }
            if isLast { return }
        }
    }

    private func say(_ trouble: String?) {
        let isNew = state.withLock { state in
            defer { state.told = trouble }
            return state.told != trouble
        }
        if isNew, let trouble { tell("the cache \(path.visible) is not used: \(trouble)") }
    }

    // MARK: The file

    private enum Trouble: Error {
        case document(ModuleCacheDocument.Fault)
        case file(FileFault)
        case busy

        var sentence: String {
            switch self {
            case .document(let fault): fault.description
            case .file(let fault): fault.description
            case .busy: "another program keeps it"
            }
        }
    }

    /// What is in the file; nothing when there is none.
    private static func read(_ path: String) throws(Trouble) -> ModuleCacheDocument.Modules {
        let bytes: [UInt8]
        do throws(FileFault) { bytes = try content(of: path) } catch {
            if error.code == ENOENT { return [] }
            throw .file(error)
        }
        if bytes.isEmpty { return [] }
        do throws(ModuleCacheDocument.Fault) {
            return try ModuleCacheDocument.modules(in: bytes)
        } catch { throw .document(error) }
    }

    /// At most one byte more than a cache may have.
    private static func content(of path: String) throws(FileFault) -> [UInt8] {
        let file = try FilePlace.open(path, O_RDONLY)
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= ModuleCacheDocument.mostBytes {
            let count = unsafe Glibc.read(file, &piece, piece.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileFault(code: errno)
            }
            bytes.append(contentsOf: piece.prefix(count))
        }
        return bytes
    }

    private func write(_ orders: [Order]) throws(Trouble) {
        let lock = try lock()
        defer { close(lock) }
        var known: ModuleCacheDocument.Modules
        do throws(Trouble) { known = try Self.read(path) } catch {
            // A damaged cache is replaced; what was never one is left alone.
            switch error {
            case .document(.broken), .document(.tooLarge): known = []
            case .document(.foreign), .file, .busy: throw error
            }
        }
        for order in orders {
            switch order {
            case .clear: known = []
            case .add(var module, let serial):
                if let index = known.firstIndex(where: { $0.serial == serial }) {
                    let old = known.remove(at: index).module
                    if old.model == module.model {
                        module.readings.merge(old.readings) { new, _ in new }
                    }
                }
                known.append((serial, module))
            }
        }
        let bytes = ModuleCacheDocument.bytes(of: known)
        if let code = Draft.write(bytes, to: path, mode: 0o600, isExact: true) {
            throw .file(FileFault(code: code))
        }
    }

    /// A lock that ends when its descriptor is closed, also by the end of the program.
    private func lock() throws(Trouble) -> CInt {
        let lock: CInt
        do throws(FileFault) {
            lock = try FilePlace.open(path + ".lock", O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw .file(error) }
        for _ in 0..<Self.tries {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
            // This thread has nothing else to do, and a lock cannot be waited for with a limit.
            _ = poll(nil, 0, 10)
        }
        close(lock)
        throw .busy
    }
}
