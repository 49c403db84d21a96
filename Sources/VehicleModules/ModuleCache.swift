import Base
import Radio
import Synchronization

/// Facts about modules that make the next handshake shorter.
///
/// A fact that could have changed is only a hint: a known address is tried, and when no module
/// answers there, the program searches for it again.
final class ModuleCache: Sendable {
    /// The most modules that are remembered; the one that was connected longest ago is dropped
    /// first.
    static let capacity = 1_000

    private struct State {
        var modules: [Serial: CachedModule] = [:]
        var order: [Serial] = []
    }

    private let state = Mutex(State())

    init() {}

    subscript(serial: Serial) -> CachedModule? { state.withLock { $0.modules[serial] } }

    var count: Int { state.withLock { $0.modules.count } }

    func remember(_ module: CachedModule, as serial: Serial) {
        state.withLock { state in
            state.order.removeAll { $0 == serial }
            state.order.append(serial)
            state.modules[serial] = module
            if state.order.count > Self.capacity {
                state.modules[state.order.removeFirst()] = nil
            }
        }
    }

    func clear() { state.withLock { $0 = State() } }
}
