import Base
import Radio
import Synchronization

/// Facts about modules that make the next handshake shorter, and their last readings.
///
/// A fact that could have changed is only a hint: a known address is tried, and when no module
/// answers there, the program searches for it again.
final class ModuleCache: Sendable {
    /// The most modules that are remembered; the one that was connected longest ago is dropped
    /// first.
    static let capacity = ModuleCacheDocument.capacity

    private struct State {
        var modules: [Serial: CachedModule] = [:]
        var order: [Serial] = []
        /// Modules with readings that the file does not have yet.
        var isNew: Set<Serial> = []
    }

    private let state = Mutex(State())
    private let file: ModuleCacheFile?

    /// With a file, the modules in it are known from the beginning.
    init(file: ModuleCacheFile? = nil) {
        self.file = file
        for (serial, module) in file?.modules ?? [] { add(module, as: serial) }
    }

    subscript(serial: Serial) -> CachedModule? { state.withLock { $0.modules[serial] } }

    var count: Int { state.withLock { $0.modules.count } }

    /// Remembers what one link has shown of a module.
    func remember(_ module: CachedModule, as serial: Serial) {
        add(module, as: serial)
        file?.add(module, as: serial)
    }

    private func add(_ module: CachedModule, as serial: Serial) {
        state.withLock { state in
            state.order.removeAll { $0 == serial }
            state.order.append(serial)
            state.modules[serial] = module
            state.isNew.remove(serial)
            if state.order.count > Self.capacity {
                state.modules[state.order.removeFirst()] = nil
            }
        }
    }

    /// Remembers values that a module has reported; the file gets them with `keep`.
    func note(_ readings: [PropertyReading], at time: WallTime, of serial: Serial) {
        state.withLock { state in
            guard state.modules[serial] != nil else { return }
            for reading in readings {
                state.modules[serial]?.readings[reading.name] = CachedModule.Reading(
                    reading.value,
                    at: time
                )
            }
            state.isNew.insert(serial)
        }
    }

    /// Writes what `note` has remembered since to the file.
    func keep(_ serial: Serial) {
        let module = state.withLock { state in
            state.isNew.remove(serial) == nil ? nil : state.modules[serial]
        }
        if let module { file?.add(module, as: serial) }
    }

    /// Forgets everything, in the file too.
    func clear() {
        state.withLock { $0 = State() }
        file?.clear()
    }
}
