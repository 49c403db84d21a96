package import Base
import Synchronization

/// Facts about a module from earlier links.
package struct CachedModule: Sendable, Hashable {
    package var name: String?
    /// Its last known address; the module may have another one by now.
    package var peer: Peer?
    package var type: Int?
    /// The variant, as read on this link.
    package var variant: Int?
    /// Registers that it does not have.
    package var lacking: Set<UInt16> = []

    package init() {}
}

/// Facts about modules that make the next handshake shorter.
///
/// A fact that could have changed is only a hint: a known address is tried, and when no module
/// answers there, the program searches for it again.
package final class ModuleCache: Sendable {
    /// The most modules that are remembered; the one that was connected longest ago is dropped
    /// first.
    package static let capacity = 1_000

    private struct State {
        var modules: [Serial: CachedModule] = [:]
        var order: [Serial] = []
    }

    private let state = Mutex(State())

    package init() {}

    package subscript(serial: Serial) -> CachedModule? { state.withLock { $0.modules[serial] } }

    package var count: Int { state.withLock { $0.modules.count } }

    package func remember(_ module: CachedModule, as serial: Serial) {
        state.withLock { state in
            state.order.removeAll { $0 == serial }
            state.order.append(serial)
            state.modules[serial] = module
            if state.order.count > Self.capacity {
                state.modules[state.order.removeFirst()] = nil
            }
        }
    }

    package func clear() { state.withLock { $0 = State() } }
}
